"""The words of the scripts of the Transfers screen."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.script_words.words import ScriptWords, plural


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
        "granted": _("Ferry will notify you on this device."),
        "denied": _("This browser blocks notifications from Ferry."),
    }
