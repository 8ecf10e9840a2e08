"""v1's reason words, as people read them: a clause, a sentence, and what to do."""

from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Words = str | Promise


class Reason(NamedTuple):
    """Each part is empty where no screen shows it."""

    clause: Words = ""  # in the row of a transfer that waits or failed
    sentence: Words = ""
    advice: Words = ""  # what to do, or what the service has done

    @property
    def title(self) -> str:
        """Return the sentence as a heading."""
        return str(self.sentence).removesuffix(".")

    @property
    def text(self) -> str:
        return " ".join(str(part) for part in (self.sentence, self.advice) if part)


def find(word: str) -> Reason:
    """Return what a word means, also with what became of the wish; nothing for an unknown word."""
    if word in REASONS:
        return REASONS[word]
    for ending, advice in WISHES.items():
        cause = REASONS.get(word.removesuffix(ending))
        if cause and word.endswith(ending):
            return cause._replace(advice=advice)
    return Reason()


def _cannot_read(sentence: Words, advice: Words) -> Reason:
    return Reason(_("it is no torrent that can be read"), sentence, advice)


_NO_ROOM = Reason(
    _("there is no room for it"),
    _("There is no room for this."),
    _("Delete something you don't need, then add it again."),
)
_IS_KEPT = _("It was kept on the wishlist.")
_KEPT_CLAUSE = _("there is no room for it; it is kept on the wishlist")
_REFUSED_CLAUSE = _("this address may not be fetched")
_UNAFFECTED = _("Your files are not affected. Try again in a minute.")
_NAME_TAKEN = Reason(sentence=_("Something here has this name already."))

WISHES = {
    "_added_to_wishlist": _IS_KEPT,
    "_wishlist_full": _("The wishlist is full too, so it was not kept."),
}
# What stays worth knowing of a transfer that arrived.
NOTES = {
    "web_page": Reason(_("the address leads to a web page, not to a file")),
    "folder_gone": Reason(_("the folder it was meant for is gone")),
    "missing_files": Reason(
        _("only the files that were missing"),
        _("Some of its files were deleted. Ferry is fetching them again."),
    ),
    "fetched_again": Reason(
        _("fetched again from the same address"),
        _("Ferry fetched this address before, and is fetching it again."),
    ),
}
REASONS = {
    **NOTES,
    # Room
    "not_enough_space": _NO_ROOM,
    "not_enough_space_added_to_wishlist": Reason(_KEPT_CLAUSE, _NO_ROOM.sentence, _IS_KEPT),
    "added_to_wishlist": Reason(_KEPT_CLAUSE, _IS_KEPT),
    "out_of_wishlist": Reason(
        _NO_ROOM.clause,
        _("The wishlist of the storage account is full."),
        _("Remove something."),
    ),
    "queue_full": Reason(
        _("too many transfers wait already"), _("The queue of the storage service is full.")
    ),
    "private_not_allowed": Reason(
        _("the service takes no private torrents"),
        _("The storage account's plan takes no torrents of private trackers."),
    ),
    "out_of_bandwidth_memory": Reason(
        _("the service has no bandwidth left for this account"),
        _("The storage account has used up its traffic for now."),
        _("Try again later. Ferry's owner can check with the service when the traffic resets."),
    ),
    "too_large": Reason(_("it is larger than the service takes")),
    "disk_full": Reason(
        _("the disk is full; it goes on when there is space"),
        _("The disk of the storage service is full."),
        _("Try again later."),
    ),
    "disk_error": Reason(
        _("the disk could not be read or written"),
        _("The storage service can't write to its disk."),
        _("Your files are not affected. Whoever runs it can mend that; then try again."),
    ),
    # The storage service
    "no_connection": Reason(sentence=_("The storage service isn't answering."), advice=_UNAFFECTED),
    "too_slow": Reason(
        sentence=_("The storage service takes too long to answer."), advice=_UNAFFECTED
    ),
    "bad_certificate": Reason(
        sentence=_("The storage service can't prove who it is."),
        advice=_(
            "Its certificate is not valid, so nothing was sent to it. The owner can check it."
        ),
    ),
    "premium_required": Reason(
        sentence=_("The storage account has no paid plan."),
        advice=_("The service answers paid accounts only. Ferry's owner can renew the plan there."),
    ),
    "dead_link": Reason(
        sentence=_("The storage service can't deliver this."),
        advice=_("The address that it gave for the content leads nowhere. Try again in a minute."),
    ),
    "selection_too_long": Reason(
        sentence=_("That is too much for one ZIP."),
        advice=_(
            "This service takes only short selections. Choose fewer items, or put them in "
            "a folder and download that as a ZIP."
        ),
    ),
    # Sources
    "no_peers": Reason(_("waiting for one to appear")),
    "not_available": Reason(_("none of its peers has what is missing")),
    "nothing_comes": Reason(_("its peers send nothing")),
    "retrying": Reason(_("its server failed; Ferry will try again")),
    "fetch_error": Reason(
        _("the address could not be fetched"),
        _("The storage service could not fetch this."),
        _("Check the address."),
    ),
    "address_refused": Reason(_REFUSED_CLAUSE),
    "url_not_allowed": Reason(
        _REFUSED_CLAUSE, _("The storage service fetches nothing from this address.")
    ),
    "invalid_torrent": _cannot_read(_("This is no torrent that can be read."), _("Get it again.")),
    "not_a_torrent": _cannot_read(_("This is no torrent."), _("This service takes nothing else.")),
    "no_torrent_passed": _cannot_read(
        _("The storage service got nothing it can use."), _("Check the link.")
    ),
    "parsing_error": _cannot_read(
        _("The storage service can't read this."), _("Copy the whole link again.")
    ),
    "engine_crashed": Reason(_("the download program fails at this torrent again and again")),
    "same_torrent": Reason(_("the same torrent is fetched already")),
    # Links
    "no_hash": Reason(
        sentence=_("This magnet link names no torrent."), advice=_("Copy the whole link again.")
    ),
    "other_scheme": Reason(
        sentence=_("Ferry takes magnet links and addresses with http or https.")
    ),
    "no_link": Reason(sentence=_("This is no magnet link and no web address.")),
    "no_address": Reason(sentence=_("This web address can't be read."), advice=_("Copy it again.")),
    "control_characters": Reason(
        sentence=_("This holds characters that no link may hold."), advice=_("Copy it again.")
    ),
    "has_password": Reason(sentence=_("Leave name and password out of the address.")),
    "too_long": Reason(sentence=_("This is too long for a link.")),
    # Names
    "name_empty": Reason(sentence=_("Enter a name.")),
    "name_too_long": Reason(sentence=_("A name has at most 255 characters.")),
    "name_not_allowed": Reason(
        sentence=_("A name can't be “.” or “..”, and holds no “/” and no line break.")
    ),
    "name_taken": _NAME_TAKEN,
    "name_already_taken": _NAME_TAKEN,
    "too_deep": Reason(sentence=_("This folder is too deep inside others to make one more in it.")),
    "root_folder": Reason(sentence=_("All files can't be renamed.")),
}
