"""Send the words of scripts with the page."""

from collections.abc import Callable

from django import template
from django.utils.html import json_script
from django.utils.safestring import SafeString

from webui.account.script_words import account
from webui.add.script_words import add, ask
from webui.files.script_words import files, upload
from webui.player.script_words import player
from webui.previews.script_words import previews
from webui.script_words import ScriptWords, time
from webui.shell.script_words import shell
from webui.transfers.script_words import transfers

register = template.Library()

SUBJECTS: dict[str, Callable[[], ScriptWords]] = {
    subject.__name__: subject
    for subject in (account, add, ask, files, player, previews, shell, time, transfers, upload)
}


@register.simple_tag
def words(*subjects: str) -> SafeString:
    """Draw the JSON block that static/js/words.js reads."""
    return json_script({subject: SUBJECTS[subject]() for subject in subjects}, "words")
