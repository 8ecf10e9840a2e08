"""How pages describe links for other people, and the playlists that players read."""

import mimetypes
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.library.addresses import folder_url
from webui.library.entries import FILE, Entry, split_name
from webui.library.snapshot import Snapshot
from webui.library.sorting import Contents
from webui.words import formatting, joining
from webui.words.formatting import Calendar, count_words
from webui.words.joining import sentences

MOST_LISTED, MOST_NAMED = 5_000, 5
LONGEST_STEM = 80
PLAYED = frozenset({"film", "audio"})
UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f/\\\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class ShareFacts(Protocol):
    pk: int
    name: str
    label: str
    expires_at: datetime | None
    folder: str
    password: str
    uses: int
    most_uses: int | None
    takes_files: bool
    last_used_at: datetime | None

    @property
    def asks_first(self) -> bool: ...


@dataclass(frozen=True)
class ShareRow:
    id: int
    name: str
    note: str
    use: str


def share_page(entry: Entry, action: str, back_url: str) -> dict[str, object]:
    """Return the page that makes a link for players."""
    text = _(
        "Create a link that opens in any player, such as VLC or a TV, without "
        "signing in. Anyone with the link can play and download this for 24 hours."
    )
    title = _("Play %(name)s on another device") % {"name": entry.name or _("All files")}
    return {"title": title, "text": text, "action": action, "back_url": back_url}


def expiry_words(expires: str) -> str:
    return _(
        "Open this link in VLC, or scan it with a phone's camera. Anyone with the "
        "link can play and download this without signing in, until %(when)s."
    ) % {"when": expires}


def share_row(share: ShareFacts, calendar: Calendar) -> ShareRow:
    name = share.label or share.name or _("All files")
    return ShareRow(share.pk, name, note(share, calendar), use_words(share, calendar))


def row_with_maker(share: ShareFacts, maker: str, calendar: Calendar) -> ShareRow:
    """Return a link as owners see it: without its address."""
    row = share_row(share, calendar)
    return replace(row, use=sentences([maker_words(share, maker), row.use]))


def maker_words(share: ShareFacts, maker: str) -> str:
    """Say who made a link, and what it opens if a title hides that."""
    if not share.label:
        return _("Created by %(name)s.") % {"name": maker}
    words = {"name": maker, "target": share.name or _("All files")}
    return _("Created by %(name)s for “%(target)s”.") % words


def use_words(share: ShareFacts, calendar: Calendar) -> str:
    if share.last_used_at is None:
        return _("Never used")
    return _("Last used: %(when)s") % {"when": calendar.words(share.last_used_at)}


def note(share: ShareFacts, calendar: Calendar) -> str:
    """Return what a link opens, such as `Page, until 7 Dec, 14:00, with a password`."""
    return joining.items(
        [
            kind_words(share),
            until(share.expires_at, calendar),
            _("with a password") if share.password else "",
            uses_words(share) if share.asks_first else "",
        ]
    )


def kind_words(share: ShareFacts) -> str:
    if share.takes_files:
        return _("Receives files")
    return _("Page") if share.folder else _("For other players")


def until(at: datetime | None, calendar: Calendar) -> str:
    if at is None:
        return _("no expiry date")
    return _("until %(when)s") % {"when": calendar.to_the_minute(at)}


def uses_words(share: ShareFacts) -> str:
    count = {"count": count_words(share.uses)}
    if share.most_uses is None:
        return ngettext("opened %(count)s time", "opened %(count)s times", share.uses) % count
    words = count | {"most": count_words(share.most_uses)}
    return _("opened %(count)s of %(most)s times") % words


def uses_left_words(share: ShareFacts) -> str:
    if share.most_uses is None:
        return ""
    left = max(share.most_uses - share.uses, 0)
    words = ngettext(
        "This link can be opened %(count)s more time.",
        "This link can be opened %(count)s more times.",
        left,
    )
    return words % {"count": count_words(left)}


# Links for players


def player_paths(token: str, kind: str, entry: str, name: str) -> tuple[str, str]:
    """Return the path to give to players, and that of the playlist."""
    title = safe_name(name)
    list_path = reverse("share-m3u", args=[token, f"{title}.m3u"])
    if kind != FILE:
        return list_path, list_path
    return reverse("share-open", args=[token, entry, title]), list_path


def playable_entries(contents: Contents) -> list[Entry]:
    return [entry for entry in contents.in_order("name") if is_played(entry)][:MOST_LISTED]


def is_played(entry: Entry) -> bool:
    return entry.kind == FILE and entry.look in PLAYED


def safe_name(name: str) -> str:
    """Return a name for the end of a URL, where people and players read it as the title. A QR code
    holds some two thousand characters, and a letter may take nine of them."""
    stem, extension = split_name(UNSAFE.sub("_", name).strip(" ."))
    return stem[:LONGEST_STEM].strip(" .") + extension or "file"


def playlist(token: str, rows: Iterable[tuple[str, str]], origin: str) -> str:
    """Return an M3U playlist of ids and names. Line breaks in names would add lines to it."""
    lines = ["#EXTM3U"]
    for file, name in rows:
        address = reverse("share-open", args=[token, file, safe_name(name)])
        lines += [f"#EXTINF:-1,{safe_name(name)}", f"{origin}{address}"]
    return "\n".join(lines) + "\n"


def media_type(name: str) -> str:
    """Return a media type by the name alone, and never one that a browser would run."""
    guess = mimetypes.guess_type(f"file.{name.rpartition('.')[2]}")[0] or ""
    return guess if guess.startswith(("video/", "audio/")) else "application/octet-stream"


# Making a link to a page


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
