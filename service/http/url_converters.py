"""Ids in URLs."""

from service.models import LARGEST_ID


class Number:
    """An id in a path. Anything else, or a number too large for an id, matches no path: 404."""

    regex = "[0-9]{1,19}"

    def to_python(self, digits: str) -> int:
        number = int(digits)
        if number > LARGEST_ID:
            raise ValueError(digits)
        return number

    def to_url(self, number: int) -> str:
        return str(number)
