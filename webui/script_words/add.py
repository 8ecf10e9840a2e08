"""The words of the scripts that add items, and of the page that asks first."""

from django.utils.translation import gettext as _
from django.utils.translation import npgettext

from webui.script_words.words import ScriptWords, plural
from webui.words.joining import sentences


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
        "sentences": sentences(("{first}", "{next}")),
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
