"""The words of the player's scripts."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.script_words.words import ScriptWords, plural


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
        "broken": _("The film stopped, and Ferry couldn't restart it."),
        "unreachable": _("Can't reach Ferry."),
    }
