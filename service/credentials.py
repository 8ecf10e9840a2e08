"""Who asks: e-mail and password of HTTP Basic, checked 1,000 times a minute if need be."""

from datetime import datetime

from service.models import Account


def verify(email: str, password: str, address: str, now: datetime) -> Account | None:
    """The account, or None where the two do not match; `address` is the connection's.

    Raises TooManyTries, though never for the site's own key or a pair that was right lately.
    """
    raise NotImplementedError
