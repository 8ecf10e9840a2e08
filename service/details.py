"""Why a transfer waits or failed: a kind and values, which clients can word in any language."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

Kind = Literal[
    "address_password", "address_refused", "address_scheme", "address_unreadable",
    "bad_certificate", "bad_response", "beginning_unreadable", "connection_lost", "content_changed",
    "content_cut_off", "data_lost", "disk_full", "disk_message", "engine_crashed", "file_too_large",
    "http_status", "invalid_torrent", "no_such_host", "not_a_torrent", "same_torrent", "timeout",
    "too_many_files", "too_many_redirects", "torrent_empty", "torrent_too_large",
    "torrent_with_extra_data", "tracker_says", "unexpected", "unreachable", "zip_damaged",
    "zip_empty", "zip_encrypted", "zip_gone", "zip_too_large", "zip_unsupported",
]  # fmt: skip

# For clients that show `warnings`: by kind, or by the status of http_status.
SENTENCES: dict[Kind | int, str] = {
    "address_password": "Addresses with a name or password in them aren't fetched.",
    "address_refused": "Nothing is fetched from addresses like this one.",
    "address_scheme": "Only http and https addresses are fetched.",
    "address_unreadable": "The address can't be read.",
    "bad_certificate": "The server can't prove its identity, because its certificate isn't valid.",
    "bad_response": "The server's response was incomplete or invalid.",
    "beginning_unreadable": "What was fetched before can't be read now.",
    "connection_lost": "The connection was lost.",
    "content_changed": "The file changed on the server.",
    "content_cut_off": "The server sent less data than it announced.",
    "data_lost": "The downloaded data is no longer on the disk.",
    "disk_full": "The disk is full.",
    "disk_message": "The disk says: {0.message}",
    "engine_crashed": "This torrent crashes the engine.",
    "file_too_large": "It has more than {0.limit:,} bytes, the most allowed.",
    "http_status": "The server reported error {0.status}.",
    "invalid_torrent": "The torrent can't be read.",
    "no_such_host": "Ferry couldn't find a server with this name.",
    "not_a_torrent": "This torrent file can't be read.",
    "same_torrent": "The same torrent is here already.",
    "timeout": "The server stopped responding.",
    "too_many_files": "There are more than {0.limit:,} files in this torrent.",
    "too_many_redirects": "The address redirects more than {0.limit} times.",
    "torrent_empty": "There is nothing in this torrent.",
    "torrent_too_large": "The torrent's description is larger than 64 MB.",
    "torrent_with_extra_data": "This looks like a torrent file, but has extra data at the end.",
    "tracker_says": "The tracker says: {0.message}",
    "unexpected": "Something went wrong in Ferry.",
    "unreachable": "Ferry can't reach the server.",
    "zip_damaged": "The ZIP file is damaged.",
    "zip_empty": "There is no file in the ZIP file.",
    "zip_encrypted": "The ZIP file needs a password.",
    "zip_gone": "The ZIP file was deleted.",
    "zip_too_large": "There are too many files in the ZIP file.",
    "zip_unsupported": "The ZIP file is compressed in a way Ferry can't read.",
    401: "The server requires you to sign in ({0.status}).",
    403: "The server refused to send this file ({0.status}).",
    404: "The server couldn't find this file ({0.status}).",
    407: "The server requires you to sign in ({0.status}).",
    410: "The server no longer has this file ({0.status}).",
    451: "The server can't send this file for legal reasons ({0.status}).",
}


class Details(Struct, frozen=True, omit_defaults=True):
    """What a reason leaves open. A value that says nothing is left out."""

    kind: Kind
    status: Annotated[int, Meta(description="Of http_status")] = 0
    limit: Annotated[int, Meta(description="The most allowed")] = 0
    message: Annotated[str, Meta(description="The words of the system or the tracker")] = ""
    tries: Annotated[int, Meta(description="How often Ferry tried")] = 0
    retry_at: Annotated[str, Meta(description="YYYY-MM-DD HH:MM:SS, in UTC")] = ""

    @property
    def sentence(self) -> str:
        words = (SENTENCES.get(self.status) or SENTENCES[self.kind]).format(self)
        words += f" Ferry tried {self.tries} times." if self.tries else ""
        return words + (f" Ferry will try again at {self.retry_at} UTC." if self.retry_at else "")


class LogEntry(Struct, frozen=True, omit_defaults=True):
    """What happened to a transfer: it changed its state, or a tracker refused it."""

    kind: Annotated[str, Meta(description="The new state, or tracker_refused")]
    at: Annotated[int, Meta(description="Seconds since 1970")] = 0
    reason: Annotated[str, Meta(description="Why it is in this state, in one word")] = ""
    tracker: Annotated[str, Meta(description="The host of the tracker")] = ""
    details: Details | None = None


MOST_ENTRIES = 50


def add_to_log(column: Any, entries: Iterable[LogEntry], at: int) -> list[LogEntry]:
    """Return the log that a column has, with the latest entries.

    An entry that repeats the last one replaces its details, such as those of a retry. Of each
    tracker, only the last refusal is of use.
    """
    log = read_log(column)
    for entry in entries:
        if entry.tracker:
            log = [each for each in log if each.tracker != entry.tracker]
        is_same = log and (log[-1].kind, log[-1].reason) == (entry.kind, entry.reason)
        if is_same and not entry.tracker:
            log[-1] = replace(log[-1], details=entry.details)
        else:
            log.append(replace(entry, at=at))
    return log[-MOST_ENTRIES:]


def read_log(column: Any) -> list[LogEntry]:
    """Return the entries in a column, without those of a newer version."""
    log = []
    for entry in column or []:
        with suppress(msgspec.ValidationError):
            log.append(msgspec.convert(entry, LogEntry))
    return log


def decode_details(column: str | None) -> Details | None:
    """Return what `encode_details` wrote; None for a kind of a newer version."""
    with suppress(msgspec.ValidationError):
        return msgspec.json.decode(column, type=Details) if column else None
    return None


def encode_details(details: Details | None) -> str | None:
    return msgspec.json.encode(details).decode() if details else None
