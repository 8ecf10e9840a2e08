"""The words of the page that makes a link to a page, and of the page that shows the link."""

from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.library.addresses import folder_url
from webui.library.entries import Entry
from webui.library.snapshot import Snapshot
from webui.shares.pages.links import ShareFacts
from webui.words import formatting
from webui.words.formatting import Calendar, count_words

MOST_NAMED = 5


def new_page(
    snapshot: Snapshot, chosen: Sequence[Entry], *, takes_folder: bool
) -> dict[str, object]:
    name = chosen[0].name if len(chosen) == 1 else snapshot.name or _("All files")
    items = [entry.name for entry in chosen] if len(chosen) > 1 else []
    words = {"name": name, "items": formatting.items_words(len(chosen))}
    return {
        "title": (_("Share %(items)s") if items else _("Share %(name)s")) % words,
        "items": items[:MOST_NAMED],
        "more": formatting.more_words(len(items) - MOST_NAMED),
        "entries": [entry.key for entry in chosen],
        "back_url": folder_url(snapshot.folder),
        "back_label": snapshot.name or _("All files"),
        "can_receive": can_receive(snapshot, chosen, takes_folder=takes_folder),
    }


def can_receive(snapshot: Snapshot, chosen: Sequence[Entry], *, takes_folder: bool) -> bool:
    """Return whether files can go to the folder of a link. Any service takes them in the root."""
    if not chosen:
        return takes_folder or snapshot.is_root
    return takes_folder and len(chosen) == 1 and chosen[0].is_folder


def terms_words(terms: ShareFacts, calendar: Calendar) -> str:
    if terms.takes_files:
        what = _("Anyone with this link can send files to the folder, and sees nothing in it.")
    else:
        what = _("Anyone with this link can see and download what it shows, without signing in.")
    word = _("Tell them the password another way.") if terms.password else ""
    return " ".join(filter(None, [what, word, limits_words(terms, calendar)]))


def limits_words(terms: ShareFacts, calendar: Calendar) -> str:
    if terms.expires_at is None:
        end = _("It works until you revoke it.")
    else:
        when = {"when": calendar.to_the_minute(terms.expires_at)}
        end = _("It works until %(when)s.") % when
    if terms.most_uses is None:
        return end
    uses = ngettext(
        "It can be opened %(count)s time.", "It can be opened %(count)s times.", terms.most_uses
    )
    return f"{end} {uses % {'count': count_words(terms.most_uses)}}"
