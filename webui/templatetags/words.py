"""Send the words of scripts with the page."""

from django import template
from django.utils.html import json_script
from django.utils.safestring import SafeString

from webui.script_words import SUBJECTS

register = template.Library()


@register.simple_tag
def words(*subjects: str) -> SafeString:
    """Render the JSON block that static/js/words.js reads."""
    return json_script({subject: SUBJECTS[subject]() for subject in subjects}, "words")
