"""URL converters for our keys, and for ids as services issue them, which can't leave their path."""

from django.urls.converters import StringConverter


class Id(StringConverter):
    """An id of a service. It contains a digit, so it can't be mistaken for the name of a page."""

    regex = r"(?=[^0-9/]*[0-9])[A-Za-z0-9][A-Za-z0-9_-]{0,63}"


class EntryConverter(StringConverter):
    regex = rf"(?:file|folder)-{Id.regex}"


class TransferConverter(StringConverter):
    """`t` and the service's id, or `s` and our own id if the service doesn't list the transfer."""

    regex = rf"(?:t{Id.regex}|s[0-9]{{1,18}})"


class VersionConverter(StringConverter):
    regex = r"[0-9a-f-]{1,80}"


class Key(StringConverter):
    """The key of an archive or upload. No database has to compare anything stranger."""

    regex = r"[A-Za-z0-9._-]{1,80}"
