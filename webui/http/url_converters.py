"""What URLs may contain: ids as services give them, which can lead nowhere else."""

from django.urls.converters import StringConverter


class Id(StringConverter):
    """A digit is in each, so that no id is ever taken for the name of a page."""

    regex = r"(?=[^0-9/]*[0-9])[A-Za-z0-9][A-Za-z0-9_-]{0,63}"


class EntryConverter(StringConverter):
    regex = rf"(?:file|folder)-{Id.regex}"


class TransferConverter(StringConverter):
    """`t` and the service's id, or `s` and ours, where the service doesn't list it."""

    regex = rf"(?:t{Id.regex}|s[0-9]{{1,18}})"


class VersionConverter(StringConverter):
    regex = r"[0-9a-f-]{1,80}"
