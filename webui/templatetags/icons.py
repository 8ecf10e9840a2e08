"""Draw the icons of static/icons.svg."""

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

ICON = '<svg class="i{}" aria-hidden="true"><use href="{}#{}"/></svg>'


@register.simple_tag
def icon(name: str, class_name: str = "") -> SafeString:
    classes = f" {class_name}" if class_name else ""
    return format_html(ICON, classes, static("icons.svg"), name)
