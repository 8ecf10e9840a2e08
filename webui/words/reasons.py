"""v1's reason words, as people read them: a clause, a sentence, and what to do; and details."""

from datetime import UTC, datetime
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from webui.v1.records import Explanation
from webui.words.formatting import Calendar, count_words, size_words
from webui.words.joining import sentences

Words = str | Promise


class Reason(NamedTuple):
    """Each part is empty where no screen shows it."""

    clause: Words = ""  # in the row of a transfer that waits or failed
    sentence: Words = ""
    advice: Words = ""  # what to do, or what the service has done

    @property
    def title(self) -> str:
        return str(self.sentence).rstrip(".。")

    @property
    def text(self) -> str:
        return sentences((self.sentence, self.advice))


def find(word: str) -> Reason:
    """Return the reason for a word, which may begin with a field, or end in what became of the
    wish; empty if unknown."""
    if word in REASONS:
        return REASONS[word]
    for ending, reason in ENDINGS.items():
        if word.endswith(ending):
            return reason
    for ending, advice in WISHES.items():
        cause = REASONS.get(word.removesuffix(ending))
        if cause and word.endswith(ending):
            return cause._replace(advice=advice)
    return Reason()


def details_words(details: Explanation | None, calendar: Calendar) -> str:
    """Say what the details add to the clause of their reason; "" if that says it all."""
    if details is None or details.kind not in DETAILS:
        return ""
    parts = [DETAILS.get(details.status) or DETAILS[details.kind]]
    parts += [_TRIED] * bool(details.tries) + [_AGAIN] * bool(details.retry_at)
    values = details._asdict() | {
        "count": count_words(details.limit),
        "size": size_words(details.limit),
        "time": calendar.since(datetime.fromtimestamp(details.retry_at, UTC)),
    }
    return sentences(part % values for part in parts)


def _cannot_read(sentence: Words, advice: Words) -> Reason:
    return Reason(_("the torrent file can't be read"), sentence, advice)


_NO_ROOM = Reason(
    _("there isn't enough space"),
    _("There isn't enough space for this."),
    _("Delete something you don't need, then add it again."),
)
_IS_KEPT = _("It's on the wishlist.")
_KEPT_CLAUSE = _("there isn't enough space, so it's on the wishlist")
_REFUSED_CLAUSE = _("Ferry isn't allowed to fetch this address")
_UNAFFECTED = _("This doesn't affect your files. Try again in a minute.")
_TRIED = ngettext_lazy("Ferry tried %(tries)s time.", "Ferry tried %(tries)s times.", "tries")
_AGAIN = _("Ferry will try again at %(time)s.")
_NAME_TAKEN = Reason(sentence=_("This folder already has an item with this name."))

ENDINGS = {
    "_fixed": Reason(
        sentence=_("A setting of this server decides this."),
        advice=_("Remove the setting and restart Ferry, then change it here."),
    ),
    "_unreadable": Reason(
        sentence=_("The storage service can't use this value."), advice=_("Try another.")
    ),
}
WISHES = {
    "_added_to_wishlist": _IS_KEPT,
    "_wishlist_full": _("The wishlist is full, too."),
}
# Notices that still matter once a transfer has arrived.
NOTES = {
    "web_page": Reason(_("the address leads to a web page, not a file")),
    "folder_gone": Reason(_("the destination folder no longer exists")),
    "missing_files": Reason(
        _("only the missing files"),
        _("Someone deleted some of its files. Ferry is fetching them again."),
    ),
    "fetched_again": Reason(
        _("fetched again from the same address"),
        _("Ferry fetched this address before, and is fetching it again."),
    ),
}
REASONS = {
    **NOTES,
    "started_over": Reason(
        _("started over"),
        _("Ferry can't reach what had arrived, so it's fetching it again."),
    ),
    # Room
    "not_enough_space": _NO_ROOM,
    "not_enough_space_added_to_wishlist": Reason(_KEPT_CLAUSE, _NO_ROOM.sentence, _IS_KEPT),
    "added_to_wishlist": Reason(_KEPT_CLAUSE, _IS_KEPT),
    "out_of_wishlist": Reason(
        _NO_ROOM.clause,
        _("The storage account's wishlist is full."),
        _("Remove something from it."),
    ),
    "queue_full": Reason(
        _("too many transfers are already waiting"),
        _("The storage service's queue is full."),
        _("Try again when some transfers are done."),
    ),
    "private_not_allowed": Reason(
        _("the service doesn't accept private torrents"),
        _("The storage account's plan doesn't include torrents from private trackers."),
    ),
    "out_of_bandwidth_memory": Reason(
        _("the account has used up its traffic"),
        _("The storage account has used up its traffic for now."),
        _("Try again later. The owner of Ferry can ask the service when the traffic resets."),
    ),
    "too_large": Reason(_("it's larger than the service allows")),
    "disk_full": Reason(
        _("the disk is full; it continues when there's space"),
        _("The storage service's disk is full."),
        _("Try again later."),
    ),
    "disk_error": Reason(
        _("Ferry couldn't read from or write to the disk"),
        _("The storage service can't write to its disk."),
        _(
            "This doesn't affect your files. Ask the service's administrator to fix "
            "this, then try again."
        ),
    ),
    # The storage service
    "no_connection": Reason(
        sentence=_("The storage service isn't responding."), advice=_UNAFFECTED
    ),
    "too_slow": Reason(
        sentence=_("The storage service is taking too long to respond."), advice=_UNAFFECTED
    ),
    "bad_certificate": Reason(
        sentence=_("The storage service can't prove its identity."),
        advice=_(
            "Its certificate isn't valid, so Ferry sent nothing to it. The owner of "
            "Ferry can check the certificate."
        ),
    ),
    "premium_required": Reason(
        sentence=_("The storage account doesn't have a paid plan."),
        advice=_(
            "The service works only with paid accounts. The owner of Ferry can renew the "
            "plan there."
        ),
    ),
    "first_account_only": Reason(
        sentence=_("Ferry's storage account can't change the limits of this server."),
        advice=_("Only the first account of the service can."),
    ),
    "dead_link": Reason(
        sentence=_("The storage service can't deliver this file."),
        advice=_("Its download link doesn't work. Try again in a minute."),
    ),
    "selection_too_long": Reason(
        sentence=_("That's too much for one ZIP."),
        advice=_(
            "This service can only pack a few items at once. Choose fewer items, or put "
            "them in a folder and download that as a ZIP."
        ),
    ),
    # Sources
    "no_peers": Reason(_("waiting for a peer")),
    "not_available": Reason(_("no peer has the missing parts")),
    "nothing_comes": Reason(_("its peers aren't sending anything")),
    "retrying": Reason(_("its server failed; Ferry will try again")),
    "fetch_error": Reason(
        _("Ferry couldn't fetch the address"),
        _("The storage service couldn't fetch this address."),
        _("Check the address."),
    ),
    "address_refused": Reason(_REFUSED_CLAUSE),
    "url_not_allowed": Reason(
        _REFUSED_CLAUSE, _("The storage service doesn't fetch from this address.")
    ),
    "invalid_torrent": _cannot_read(
        _("This torrent file can't be read."), _("Try downloading it again.")
    ),
    "not_a_torrent": _cannot_read(
        _("This isn't a torrent file."), _("This service accepts only torrent files.")
    ),
    "no_torrent_passed": _cannot_read(
        _("The storage service couldn't use this link."), _("Check the link.")
    ),
    "parsing_error": _cannot_read(_("The storage service can't read this."), _("Copy it again.")),
    "files_unknown": Reason(
        sentence=_("Ferry doesn't know the files of this torrent yet."),
        advice=_("Try again in a moment."),
    ),
    "nothing_wanted": Reason(sentence=_("Choose at least one file.")),
    "transfer_failed": Reason(
        sentence=_("This transfer has failed."), advice=_("Retry it, then choose its files.")
    ),
    "unknown_file": Reason(
        sentence=_("The files of this torrent are different now."),
        advice=_("Reload the page, then choose again."),
    ),
    "engine_crashed": Reason(_("this torrent keeps crashing the torrent engine")),
    "same_torrent": Reason(_("another transfer is already fetching this torrent")),
    # ZIP files
    "zip_damaged": Reason(
        _("the ZIP file is damaged"),
        _("This ZIP file is damaged."),
        _("Get a new copy of it, then unpack that."),
    ),
    "zip_empty": Reason(
        _("there are no files in this ZIP file"), _("There are no files in this ZIP file.")
    ),
    "zip_encrypted": Reason(
        _("the ZIP file needs a password"),
        _("This ZIP file needs a password, so Ferry can't unpack it."),
        _("Download it, and unpack it on your own computer."),
    ),
    "zip_gone": Reason(
        _("the ZIP file was deleted"),
        _("Someone deleted this ZIP file."),
        _("Restore it under Recently deleted, then unpack it again."),
    ),
    "zip_too_large": Reason(
        _("there are too many files in this ZIP file"),
        _("There are too many files in this ZIP file."),
        _("Download it, and unpack it on your own computer."),
    ),
    "zip_unsupported": Reason(
        _("Ferry can't read this kind of ZIP file"),
        _("This ZIP file is compressed in a way that Ferry can't read."),
        _("Download it, and unpack it on your own computer."),
    ),
    # Links
    "no_hash": Reason(
        sentence=_("This magnet link doesn't name a torrent."),
        advice=_("Copy the whole link again."),
    ),
    "other_scheme": Reason(
        sentence=_("Ferry accepts magnet links and addresses that begin with http or https.")
    ),
    "no_link": Reason(sentence=_("This isn't a magnet link or a web address.")),
    "no_address": Reason(sentence=_("This web address can't be read."), advice=_("Copy it again.")),
    "control_characters": Reason(
        sentence=_("This contains characters that aren't allowed in a link."),
        advice=_("Copy it again."),
    ),
    "has_password": Reason(sentence=_("Remove the name and password from the address.")),
    "too_long": Reason(sentence=_("This is too long for a link.")),
    # Names
    "name_empty": Reason(sentence=_("Enter a name.")),
    "name_too_long": Reason(sentence=_("A name can have at most 255 characters.")),
    "name_not_allowed": Reason(
        sentence=_("A name can't be “.” or “..”, and can't contain “/” or a line break.")
    ),
    "name_taken": _NAME_TAKEN,
    "name_already_taken": _NAME_TAKEN,
    "too_deep": Reason(sentence=_("This folder is nested too deeply to contain another.")),
    "root_folder": Reason(sentence=_("You can't rename All files.")),
    "too_many_items": Reason(
        sentence=_("Ferry copies at most 100,000 items at once. Copy them in parts.")
    ),
    "folder_into_itself": Reason(
        sentence=_("A folder can't be moved into itself or into a folder inside it.")
    ),
}
# The kinds of details that say more than a clause, and statuses; other kinds are named as reasons.
DETAILS: dict[str | int, Words] = {
    "address_password": _("Remove the name and password from the address."),
    "address_scheme": _("Ferry accepts magnet links and addresses that begin with http or https."),
    "address_unreadable": _("This web address can't be read."),
    "bad_certificate": _(
        "The server can't prove its identity, because its certificate isn't valid."
    ),
    "bad_response": _("The server's response was incomplete or invalid."),
    "beginning_unreadable": _("Ferry can't read what it fetched before."),
    "connection_lost": _("The connection was lost."),
    "content_changed": _("The file changed on the server."),
    "content_cut_off": _("The server sent less data than it announced."),
    "data_lost": _("The downloaded data is no longer on the disk."),
    "disk_message": _("The disk says: %(message)s"),
    "file_too_large": _("It has more than %(size)s."),
    "http_status": _("The server reported error %(status)s."),
    "no_such_host": _("Ferry couldn't find a server with this name."),
    "timeout": _("The server stopped responding."),
    "too_many_files": ngettext_lazy(
        "There is more than %(count)s file in this torrent.",
        "There are more than %(count)s files in this torrent.",
        "limit",
    ),
    "too_many_redirects": ngettext_lazy(
        "The address redirects more than %(count)s time.",
        "The address redirects more than %(count)s times.",
        "limit",
    ),
    "torrent_empty": _("There are no files in this torrent."),
    "torrent_too_large": _("The torrent file is larger than 64 MB."),
    "torrent_with_extra_data": _("This looks like a torrent file, but has extra data at the end."),
    "tracker_says": _("The tracker says: %(message)s"),
    "unexpected": _("Something went wrong in Ferry."),
    "unreachable": _("Ferry can't reach the server."),
    401: _("The server requires you to sign in (%(status)s)."),
    403: _("The server refused to send this file (%(status)s)."),
    404: _("The server couldn't find this file (%(status)s)."),
    407: _("The server requires you to sign in (%(status)s)."),
    410: _("The server no longer has this file (%(status)s)."),
    451: _("The server can't send this file for legal reasons (%(status)s)."),
}
