"""An audit of every store's answers against plain Python over the raw files.

Nothing of the product is imported here: stores are filled by their own means, and the server is only spoken to.
"""
