"""Preserve what was typed into a plain form that arrives after its session has ended.

Guarantee: only the person who typed the text gets it back. It waits in the sign-in page itself,
encrypted for the person whom this browser's device cookie names; the server keeps none of it. The
encrypted text must fit into a stranger's form, which limits it to about a thousand links.

With scripts, static/js/unsent-forms.js does this in the browser, for text of any length.
"""

import json
import re
import zlib
from base64 import b64decode, b64encode
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from webui import encryption
from webui.forms import SignIn
from webui.http import bodies, csrf, known_devices
from webui.http.csrf import TOKEN_FIELD
from webui.models import User

MOST_ENCRYPTED = 60_000  # A stranger's form holds 64 KiB.
SHORT_BYTES = 40_000
FIELD = "unsent"
# Fields that people type into; the form's other fields are sent as hidden fields.
TYPED = {
    "text": _("Magnet links or web addresses, one per line"),
    "name": _("Name"),
    "url": _("Address"),
    "email": _("Email address"),
    "code": _("Code"),
}
LINES = ("line", "magnet")
WAITING = "sealed_form"
FILE_NAME = re.compile(rb'filename="([^"\r\n]+)"')


@dataclass(frozen=True)
class Unsent:
    path: str
    fields: list[tuple[str, str]]
    files: list[str]

    @property
    def typed(self) -> list[tuple[str, str, str]]:
        """Return the name, label, and value of each field that people type into."""
        return [(name, str(TYPED[name]), value) for name, value in self.fields if name in TYPED]

    @property
    def others(self) -> list[tuple[str, str]]:
        return [(name, value) for name, value in self.fields if name not in TYPED]


def sign_in_first(request: HttpRequest, page: str) -> HttpResponse | None:
    """Return the sign-in page with the typed text, or None if there is none or too much."""
    encrypted = encrypt_form(request)
    if not encrypted:
        return None
    context = {"form": SignIn(), "next": page, "has_people": True, "unsent": encrypted}
    return render(request, "signin/show.html", context, status=403)


def is_short(request: HttpRequest, most: int = SHORT_BYTES) -> bool:
    length = request.META.get("CONTENT_LENGTH") or "0"
    return length.isdecimal() and int(length) <= most


def encrypt_form(request: HttpRequest) -> str:
    person = known_devices.person_of(request.COOKIES.get(known_devices.COOKIE, ""))
    if person is None or not is_short(request, settings.DATA_UPLOAD_MAX_MEMORY_SIZE):
        return ""
    files = [name.decode(errors="replace") for name in FILE_NAME.findall(request.body)]
    fields = fields_of(request)
    is_typed = any(value for name, value in fields if name in (*TYPED, WAITING))
    if not is_typed or csrf.is_forged(request, request.POST.get(TOKEN_FIELD, "")):
        return ""
    facts = json.dumps([person, request.get_full_path(), fields, files])
    encrypted = encryption.encrypt(b64encode(zlib.compress(facts.encode())).decode())
    return encrypted if len(encrypted) <= MOST_ENCRYPTED else ""


def fields_of(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the fields without passwords. The lines of a list become one text."""
    fields, lines = [], []
    for name, values in bodies.read_form(request).lists():
        if name in LINES:
            lines += values
        elif name != TOKEN_FIELD and "password" not in name:
            fields += [(name, value) for value in values]
    return [*fields, ("text", "\n".join(lines))] if lines else fields


def decrypt_form(encrypted: str, user: User) -> Unsent | None:
    """Return the form that `user` typed, or None if another person typed it."""
    try:
        facts = zlib.decompress(b64decode(encryption.decrypt(encrypted)))
    except encryption.CannotDecrypt:
        return None
    person, path, fields, files = json.loads(facts)
    form = Unsent(path, [(name, value) for name, value in fields], files)
    return form if person == user.pk else None
