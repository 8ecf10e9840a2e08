"""The words of the scripts of the Account and Server screens."""

from django.utils.translation import gettext as _

from webui.script_words.words import ScriptWords


def account() -> ScriptWords:
    return {
        "drag": _("Drag this button to your bookmarks bar. Clicking it here does nothing."),
        "asked": _(
            "Ferry asked your browser. If you don't see a question, look for an icon "
            "in the address bar."
        ),
        "refused": _("This browser doesn't let websites open magnet links."),
    }
