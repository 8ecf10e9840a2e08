"""The words of scripts: one function for each block that a page may need, by its name.

static/js/words.js reads them.
"""

from collections.abc import Callable, Mapping

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, npgettext

from webui.words import joining

# Each plural category of each language has one of these numbers.
SAMPLES = (0, 1, 2, 3, 5, 11, 100)

ScriptWords = Mapping[str, str | dict[int, str]]


def plural(sentence: Callable[[int], str]) -> dict[int, str]:
    """Return each form of a sentence, by a number that takes this form."""
    forms: dict[str, int] = {}
    for number in SAMPLES:
        forms.setdefault(sentence(number), number)
    return {number: form for form, number in forms.items()}


def time() -> ScriptWords:
    return {
        "seconds": _("{seconds} s"),
        "minutes": _("{minutes} min"),
        "hours": _("{hours} h {minutes} min"),
    }


def shell() -> ScriptWords:
    return {
        "unreachable": _("Can't reach Ferry. Nothing on this page has changed."),
        "late": _("Ferry took too long to respond."),
        "failed": _("That didn't work. Nothing on this page has changed."),
        "incomplete": _(
            "This page couldn't load what it needs. Ferry may be unreachable, or it was "
            "updated after you opened the page."
        ),
        "reload": _("Reload"),
        "list": joining.items(("{first}", "{next}")),
        "copied": _("Link copied"),
        "copy": _("Copied"),
        "selected": _(
            "Ferry couldn't copy it, but it's selected. Copy it with the keyboard or the menu."
        ),
        "restored": _("You were signed out in the meantime. Ferry has restored what you typed."),
        "choose": _("You were signed out in the meantime. Choose these files again: {names}"),
        "play": _("Play"),
        "pause": _("Pause"),
        "unplayable": _("“{name}” can't be played"),
    }


def selection() -> ScriptWords:
    return {"chosen": _("{count} selected")}


def files() -> ScriptWords:
    return {
        "fresh": _("Up to date"),
        "still": _("Ferry still isn't responding."),
        "renamed": _("Renamed: {name}"),
        "cut": plural(
            lambda count: ngettext(
                "{count} item cut. Open a folder, and paste it there.",
                "{count} items cut. Open a folder, and paste them there.",
                count,
            )
        ),
        "copy": plural(
            lambda count: ngettext(
                "{count} item copied. Open a folder, and paste it there.",
                "{count} items copied. Open a folder, and paste them there.",
                count,
            )
        ),
        "same": _("These items are in this folder already."),
        "drop": plural(
            lambda count: ngettext(
                "{count} item. Keep this tab open until the upload finishes.",
                "{count} items. Keep this tab open until the upload finishes.",
                count,
            )
        ),
        "folders": plural(lambda count: ngettext("{count} folder", "{count} folders", count)),
        "sum": _("{done} of {total} uploaded"),
        "tab": _("Uploads continue here. The page is open in another tab."),
    }


def receive() -> ScriptWords:
    return {
        "sent": plural(
            lambda count: ngettext(
                "{count} file sent. Thank you.", "{count} files sent. Thank you.", count
            )
        )
    }


def upload() -> ScriptWords:
    return {
        "queued": _("Waiting"),
        "uploading": _("Uploading. Keep this tab open."),
        "moving": _("Uploaded. Ferry is saving it."),
        "resuming": _("Interrupted. The upload continues on its own."),
        "done": _("Uploaded"),
        "failed": _("Failed"),
        "left": _("{time} left"),
        "of": _("{done} of {total}"),
        "cancel": _("Cancel {name}"),
        "count": _("Uploaded: {count}"),
        "more": _("and {count} more"),
        "cut": _("The connection was lost, and Ferry saved nothing of this file."),
        "strange": _("This page couldn't read Ferry's response."),
        "unsigned": _("You're signed out. Sign in again in another tab, then retry."),
        "large": _("There isn't enough space for this file."),
        "nodirs": _("You can't drop folders here. Drop the files instead."),
    }


def add() -> ScriptWords:
    return {
        "progress": _("Sent {done} of {total}"),
        "added": _("{count} added"),
        "known": _("{count} already here"),
        "failed": _("{count} not added"),
        "item": _("{name}: {outcome}"),
        "cut": _(
            "The connection was lost, so Ferry may have added some links already. Check the "
            "list before you select Add again."
        ),
        "offline": _("This device is offline. Your links are still in the field."),
        "unsigned": _(
            "You're signed out. Sign in again, here or in another tab, then select Add again."
        ),
        "signin": _("Sign in"),
        "strange": _(
            "This page couldn't read Ferry's response. Everything that Ferry didn't add is "
            "still here."
        ),
    }


def ask() -> ScriptWords:
    return {
        "some": _("Add {chosen} of {total} links?"),
        "all": plural(
            lambda count: npgettext("asking", "Add this download?", "Add {count} links?", count)
        ),
        "none": _("Nothing to add"),
        "button": plural(
            lambda count: npgettext("asking", "Add transfer", "Add {count} transfers", count)
        ),
        "size": _("You need at least {size}."),
        "sentences": joining.sentences(("{first}", "{next}")),
        "sending": _("Uploading {name}. Keep this window open."),
        "from": _("The bookmarklet sent these from {host}."),
        "page": _(
            "There are no magnet links on that page, so here's the page's own address. Add "
            "it only if it leads to a file."
        ),
        "shared": _("You shared this with Ferry."),
        "unread": _(
            "The connection was lost, so Ferry couldn't read these links. Reload this page."
        ),
        "unshared": _(
            "Ferry couldn't receive what you shared, but it's ready now. Share it again."
        ),
        "done": _("In progress"),
        "here": _("Already in Ferry"),
        "close": _("{outcomes}. You can close this window."),
        "partly": _("Some items weren't added"),
    }


def transfers() -> ScriptWords:
    return {
        "arrived": plural(
            lambda count: ngettext(
                "{count} transfer is in your files", "{count} transfers are in your files", count
            )
        ),
        "failed": _("{name} failed"),
        "undo": _("Undo"),
        "fresh": _("Up to date"),
        "gone": _("That link is no longer available."),
        "links": _("Links copied"),
        "granted": _("Ferry will notify you on this device."),
        "denied": _("This browser blocks notifications from Ferry."),
    }


def choosing() -> ScriptWords:
    return {
        "sum": plural(
            lambda count: ngettext(
                "{chosen} of {count} file, {size} of {whole}",
                "{chosen} of {count} files, {size} of {whole}",
                count,
            )
        ),
        "short": _("You need another {size}."),
        "none": _("Choose at least one file."),
    }


def previews() -> ScriptWords:
    return {
        "page": _("Page {number} of {count}"),
        "locked": _(
            "A password protects this document. Open it in a new tab to enter the password."
        ),
        "broken": _("Ferry can't show this document. Try opening it in a new tab."),
        "position": _("{at} of {length}"),
        "off": _("Repeat: off"),
        "all": _("Repeat: all tracks"),
        "one": _("Repeat: this track"),
    }


def player() -> ScriptWords:
    return {
        "position": _("{at} of {length}"),
        "mute": _("Mute"),
        "unmute": _("Unmute"),
        "full": _("Full screen"),
        "leave": _("Exit full screen"),
        "automatic": _("Automatic"),
        "quality": _("Automatic ({quality})"),
        "left": _("About {time} left."),
        "next": plural(
            lambda count: ngettext("Starts in {count} second", "Starts in {count} seconds", count)
        ),
        "burned": _("{name}, burned in"),
        "unburned": _("Ferry can't show these subtitles, so the film continues without them."),
        "broken": _("The film stopped, and Ferry couldn't restart it."),
        "unreachable": _("Can't reach Ferry."),
    }


def account() -> ScriptWords:
    return {
        "drag": _("Drag this button to your bookmarks bar. Clicking it here does nothing."),
        "asked": _(
            "Ferry asked your browser. If you don't see a question, look for an icon "
            "in the address bar."
        ),
        "refused": _("This browser doesn't let websites open magnet links."),
    }


SUBJECTS: dict[str, Callable[[], ScriptWords]] = {
    subject.__name__: subject
    for subject in (
        *(account, add, ask, choosing, files, player, previews),
        *(receive, selection, shell, time, transfers, upload),
    )
}
