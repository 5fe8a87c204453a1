"""What every test may ask for by name."""

from tests.services import own_virtuoso, virtuoso

__all__ = ["own_virtuoso", "virtuoso"]
