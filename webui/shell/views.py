"""What a browser needs to install Ferry, and to share items with it."""

import hashlib
import re
from collections.abc import Sequence

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import get_language, get_language_bidi
from django.utils.translation import gettext as _

from webui.errors.page import offline_page
from webui.http.roles import open_to_strangers
from webui.shell.context import server_name

ICONS = (("icon-192.png", "192x192", "any"), ("icon-512.png", "512x512", "any"))
MASKABLE = ("icon-maskable-512.png", "512x512", "maskable")
# Made by `make screenshots`, as the shortcuts' icons are.
PICTURES = (("narrow", "390x760"), ("wide", "1200x680"))
LISTS, SHORTCUTS = ("files", "transfers"), ("add", "transfers")
TORRENT = "application/x-bittorrent"
SHELL = re.compile(
    r"css/(?:app|bare|files|transfers|transfer-rows|add)\.css|js/[^/]+|vendor/htmx\.min\.js"
    r"|icons\.svg|mark\.svg|icons/icon-192\.png"
)


@open_to_strangers("GET")
def manifest(_request: HttpRequest) -> HttpResponse:
    """Send the web app manifest, fetched without a cookie and the same for everyone."""
    add, name = reverse("add"), server_name()
    facts = {
        "id": reverse("files"),
        "name": name,
        "short_name": name,
        "lang": get_language(),
        "dir": "rtl" if get_language_bidi() else "ltr",
        "description": _("Send links to your storage, and find the files there."),
        "start_url": reverse("files"),
        "scope": reverse("files"),
        "display": "standalone",
        "background_color": "#fcfdfd",
        "theme_color": "#fcfdfd",
        "icons": [
            {"src": static(f"icons/{name}"), "sizes": sizes, "type": "image/png", "purpose": use}
            for name, sizes, use in (*ICONS, MASKABLE)
        ],
        "screenshots": [
            screenshot(form, sizes, name) for form, sizes in PICTURES for name in LISTS
        ],
        "shortcuts": [shortcut(name) for name in SHORTCUTS],
        "launch_handler": {"client_mode": ["navigate-existing", "auto"]},
        "share_target": {
            "action": reverse("add-shared"),
            "method": "POST",
            "enctype": "multipart/form-data",
            "params": {
                "title": "title",
                "text": "text",
                "url": "url",
                "files": [{"name": "file", "accept": [TORRENT, ".torrent", "*/*"]}],
            },
        },
        "file_handlers": [{"action": f"{add}?opened", "accept": {TORRENT: [".torrent"]}}],
        "protocol_handlers": [{"protocol": "magnet", "url": f"{add}?magnet=%s"}],
    }
    response = JsonResponse(facts, content_type="application/manifest+json")
    response["Cache-Control"] = "no-cache"
    return response


def screenshot(form: str, sizes: str, name: str) -> dict[str, str]:
    return {
        "src": static(f"icons/{name}-{form}.webp"),
        "sizes": sizes,
        "type": "image/webp",
        "form_factor": form,
        "label": label(name),
    }


def shortcut(name: str) -> dict[str, object]:
    icon = {"src": static(f"icons/{name}-96.png"), "sizes": "96x96"}
    return {"name": label(name), "url": reverse(name), "icons": [icon]}


def label(name: str) -> str:
    return {"add": _("Add"), "files": _("Files"), "transfers": _("Transfers")}[name]


@open_to_strangers("GET")
def worker(request: HttpRequest) -> HttpResponse:
    """Send the service worker, at the top, since it only controls URLs below its own. Each version
    of Ferry sends a different script, by which browsers notice upgrades and downgrades."""
    files = shell()
    context = {
        "shell": files,
        "version": version_of(files),
        "language": get_language(),
        "session_ms": settings.SESSION_COOKIE_AGE * 1000,
    }
    response = render(request, "worker.js", context, content_type="text/javascript; charset=utf-8")
    response["Cache-Control"] = "no-cache"
    return response


def shell() -> list[str]:
    """Return the static files of every page, and those of what is shown offline."""
    names = (name for finder in get_finders() for name, _storage in finder.list(["*.map"]))
    return [static(name) for name in sorted(names) if SHELL.fullmatch(name)]


def version_of(files: Sequence[str]) -> str:
    """Return a version that changes with any static file and with the words of the offline page."""
    manifest_hash = getattr(staticfiles_storage, "manifest_hash", "")
    return hashlib.sha256(f"{manifest_hash}{files}{offline_page([])}".encode()).hexdigest()[:12]
