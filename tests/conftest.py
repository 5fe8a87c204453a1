"""What every test may ask for by name."""

from tests.services import virtuoso

__all__ = ["virtuoso"]
