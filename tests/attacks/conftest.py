"""What hostile media are tried on, and a new service for each case of a test."""

import secrets
from collections.abc import Callable

import pytest

from tests.conftest import connected
from tests.service.conftest import children, library_folder
from tests.webui.service import Storage, storage_of

__all__ = ["children", "library_folder"]


@pytest.fixture
def new_storage(storage, monkeypatch) -> Callable[[], Storage]:
    """Connect the site to an empty embedded service, of which nothing is cached."""
    return lambda: connected(storage_of(secrets.token_hex(8), is_embedded=True), monkeypatch)


@pytest.fixture
def new_foreign(storage, monkeypatch) -> Callable[[], Storage]:
    """Connect the site to an empty foreign service, of which nothing is cached."""
    return lambda: connected(storage_of(secrets.token_hex(8), is_embedded=False), monkeypatch)
