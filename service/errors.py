"""Refusals of the service, each with the word and the HTTP status that the API sends."""

from datetime import timedelta

from service.models import Wish


class Refusal(Exception):  # noqa: N818  Errors are nouns here.
    reason = "refused"
    status = 422


class NotFound(Refusal):
    reason = "not_found"
    status = 404


class NameTaken(Refusal):
    reason = "name_taken"
    status = 409


class BadName(Refusal):
    """The word says why: name_empty, name_too_long, or name_not_allowed."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TooDeep(Refusal):
    reason = "too_deep"


class RootStays(Refusal):
    """The root folder can't be renamed, moved, or deleted."""

    reason = "root_folder"


class IntoItself(Refusal):
    """A folder can't be in itself, or in a folder below it."""

    reason = "folder_into_itself"


class TooManyItems(Refusal):
    """A request would make too many rows: empty files take no space."""

    reason = "too_many_items"


class NoRoom(Refusal):
    reason = "not_enough_space"
    status = 413


class DiskFull(NoRoom):
    """The account has space left, but the disk is full."""

    reason = "disk_full"


class CannotChoose(Refusal):
    """The word says why: files_unknown, nothing_wanted, unknown_file, or transfer_failed."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class BadMagnet(Refusal):
    reason = "parsing_error"


class BadAddress(Refusal):
    reason = "url_not_allowed"


class NotATorrent(Refusal):
    reason = "not_a_torrent"
    status = 400


class NotNow(Refusal):
    """The torrent can't be added now; it is kept as `wish`, which is None if the list is full."""

    status = 413

    def __init__(self, trouble: str, wish: Wish | None) -> None:
        self.reason = f"{trouble}_added_to_wishlist" if wish else f"{trouble}_wishlist_full"
        super().__init__(self.reason)
        self.wish = wish


class CannotConvert(Refusal):
    """The requested form of a medium can't be made, now or ever; `why` is for people."""

    reason = "cannot_convert"

    def __init__(self, why: str = "") -> None:
        super().__init__(why)
        self.why = why


class FirstAccountOnly(Refusal):
    """Only the installation's own account, which is the first one, may do this."""

    reason = "first_account_only"
    status = 403


class SettingFixed(Refusal):
    """Only the environment can change this field."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.reason = f"{field}_fixed"


class Busy(Refusal):
    """The service is too busy to answer in time."""

    reason = "busy"
    status = 503


class NoWorker(Busy):
    """Only a worker can do this, and none is running."""

    reason = "no_worker"


class StoreAway(Busy):
    """The object store doesn't answer."""


class EmailTaken(Refusal):
    reason = "email_taken"


class TooManyTries(Refusal):
    reason = "too_many_tries"
    status = 429

    def __init__(self, wait: timedelta) -> None:
        super().__init__(wait)
        self.wait = wait
