"""Fixtures of the service that tests of hostile media use."""

from tests.service.conftest import children, library_folder

__all__ = ["children", "library_folder"]
