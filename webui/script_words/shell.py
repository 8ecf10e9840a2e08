"""The words of the scripts of every page."""

from django.utils.translation import gettext as _

from webui.script_words.words import ScriptWords
from webui.words import joining


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
