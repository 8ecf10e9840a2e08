"""What hostile media are tried on."""

from tests.service.conftest import children, library_folder

__all__ = ["children", "library_folder"]
