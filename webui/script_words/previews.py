"""The words of the scripts of previews."""

from django.utils.translation import gettext as _

from webui.script_words.words import ScriptWords


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
