"""Prefer the language that a person chose to the one their browser requests."""

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils import translation

from webui.http.requests import Answer, middleware


@middleware
def own(get_response: Answer, request: HttpRequest) -> HttpResponseBase:
    if request.session.session_key and request.user.is_authenticated:
        chosen = request.user.language
        if is_spoken(chosen):
            translation.activate(chosen)
            request.LANGUAGE_CODE = chosen
    return get_response(request)


def is_spoken(language: str) -> bool:
    return language in dict(settings.LANGUAGES)
