"""Render equal screens once."""

from collections.abc import Hashable
from dataclasses import replace
from functools import lru_cache

from django.contrib.messages import get_messages
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import get_script_prefix
from django.utils.crypto import get_random_string

from webui.shell.context import shell_of

MOST_SCREENS = 32
# Placeholders for what differs between people who see equal screens. No one else can write them.
TOKEN, PERSON = get_random_string(32), get_random_string(32)


def render_screen(request: HttpRequest, template: str, page: Hashable) -> HttpResponse:
    """Render a screen, or reuse what was rendered for an equal page in an equal frame."""
    if get_messages(request):
        return render(request, template, {"page": page})
    shell = shell_of(request)
    html = html_of(template, page, replace(shell, person=PERSON), get_script_prefix())
    return HttpResponse(html.replace(TOKEN, get_token(request)).replace(PERSON, shell.person))


@lru_cache(MOST_SCREENS)
def html_of(template: str, page: Hashable, shell: Hashable, _prefix: str) -> str:
    context = {"page": page, "shell": shell, "csrf_token": TOKEN, "messages": ()}
    return render_to_string(template, context)
