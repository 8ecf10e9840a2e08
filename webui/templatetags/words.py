"""Send the words of scripts with the page."""

from collections.abc import Callable

from django import template
from django.utils.html import json_script
from django.utils.safestring import SafeString

from webui.script_words.account import account
from webui.script_words.add import add, ask
from webui.script_words.files import files, receive, upload
from webui.script_words.player import player
from webui.script_words.previews import previews
from webui.script_words.shell import shell
from webui.script_words.transfers import transfers
from webui.script_words.words import ScriptWords, time

register = template.Library()

SUBJECTS: dict[str, Callable[[], ScriptWords]] = {
    subject.__name__: subject
    for subject in (
        *(account, add, ask, files, player, previews),
        *(receive, shell, time, transfers, upload),
    )
}


@register.simple_tag
def words(*subjects: str) -> SafeString:
    """Render the JSON block that static/js/words.js reads."""
    return json_script({subject: SUBJECTS[subject]() for subject in subjects}, "words")
