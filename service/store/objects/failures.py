"""Failures of an object store, as the service knows them."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from obstore.exceptions import BaseError

from service.errors import NotFound, StoreAway

log = logging.getLogger("ferry.store")


@contextmanager
def translate_failures() -> Iterator[None]:
    """Raise NotFound, or StoreAway, for what obstore raises."""
    try:
        yield
    except FileNotFoundError as missing:
        raise NotFound from missing
    except BaseError as error:
        raise away(str(error)) from error


def away(trouble: str) -> StoreAway:
    log.warning("the object store doesn't answer: %s", " ".join(trouble.split())[:300])
    return StoreAway()
