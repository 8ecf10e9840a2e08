"""The page that the service worker shows while Ferry can't be reached."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from webui.errors.page import Action, offline_page
from webui.http.roles import open_to_strangers


@open_to_strangers("GET")
def offline(request: HttpRequest) -> HttpResponse:
    """Return a page for the service worker to cache: without cookies, in its user's language."""
    code = request.GET.get("language", "")
    language = code if code in dict(settings.LANGUAGES) else translation.get_language()
    with translation.override(language):
        page = offline_page([Action(reverse("files"), _("Try again"), is_primary=True)])
        return render(request, "errors/offline.html", {"page": page})
