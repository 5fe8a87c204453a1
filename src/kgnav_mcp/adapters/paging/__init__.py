"""Lists in pages: how long they are, what a page of them holds, and where the next page begins.

directions   both directions as one list
"""
