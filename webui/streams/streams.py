"""What a player fetches of a foreign service, through the site.

Guarantee: an address below `/stream/` was made by this site out of an answer of the service, for
one person, one service and some hours. It says nothing to others, since it is sealed, and is no
open proxy, since nobody else can make one. Where it leads is judged when it is made, and again
with each redirect when it is used.
"""

import base64
import binascii
import struct
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.http import HttpResponse, HttpResponseBase
from django.urls import reverse

from webui.http.content_types import KEPT, LOCKED_HEADERS, BrowserHandling
from webui.http.requests import Request
from webui.library import file_responses
from webui.library.content_check import UNKNOWN
from webui.streams import playlists
from webui.streams.playlists import TargetKind
from webui.v1.errors import Unreadable
from webui.v1.links import Download
from webui.v1.models import Playable

LIFETIME = timedelta(hours=24)
# Request lines end at 8,190 bytes, and sealing makes four letters of three.
LONGEST_URL = 5_000
PLAYLIST_TYPE = "application/vnd.apple.mpegurl"
PART_TYPES = frozenset({
    *("video/mp2t", "video/mp4", "video/iso.segment", "video/webm"),
    *("audio/mp4", "audio/aac", "audio/mpeg", "audio/x-aac", "audio/ac3", "text/vtt"),
})  # fmt: skip


class Unknown(Exception):  # noqa: N818  Errors are nouns here.
    """Not of ours, not for this person and service, or too old."""


@dataclass(frozen=True)
class StreamTarget:
    """Where an address leads. All that a playlist names ends with the playlist."""

    kind: TargetKind
    url: str
    expires_at: int  # seconds since 1970


@dataclass(frozen=True)
class StreamReader:
    """For whom addresses are made."""

    user_id: int
    service: str

    @property
    def bound(self) -> list[bytes]:
        return [str(self.user_id).encode(), self.service.encode()]


# Sealing


def encrypt(part: StreamTarget, reader: StreamReader) -> str:
    """The same part has the same address, so that a playlist read again names the same files."""
    url = part.url.encode()
    if len(url) > LONGEST_URL:
        raise Unreadable("bad_link")
    plain = part.kind.encode() + struct.pack(">Q", part.expires_at) + url
    return (
        base64.urlsafe_b64encode(_cipher(settings.SECRET_KEY).encrypt(plain, reader.bound))
        .decode()
        .rstrip("=")
    )


def opened(token: str, reader: StreamReader, now: datetime) -> StreamTarget:
    try:
        content = base64.b64decode(token + "=" * (-len(token) % 4), b"-_", validate=True)
        plain = _cipher(settings.SECRET_KEY).decrypt(content, reader.bound)
    except (binascii.Error, ValueError, InvalidTag) as error:
        raise Unknown from error
    part = StreamTarget(
        TargetKind(plain[:1].decode()), plain[9:].decode(), struct.unpack(">Q", plain[1:9])[0]
    )
    if part.expires_at <= now.timestamp():
        raise Unknown
    return part


@cache
def _cipher(secret: str) -> AESSIV:
    derive = HKDF(algorithm=SHA256(), length=64, salt=None, info=b"ferry streams")
    return AESSIV(derive.derive(secret.encode()))


# What a player is told


def playable(request: Request, answer: Playable, file: str, kind: str, now: datetime) -> str:
    """The address of ours for what a foreign service answered to hls or mp4."""
    is_film = kind == "mp4"
    if is_film and not answer.url:
        raise Unreadable("bad_link")
    url = answer.url or request.v1.hls_url(file)
    wanted = TargetKind.PART if is_film else TargetKind.PLAYLIST
    expires_at = int((now + LIFETIME).timestamp())
    token = encrypt(
        StreamTarget(wanted, request.v1.link_to(url, url), expires_at), reader_of(request)
    )
    return reverse("stream-part", args=[token])


def reader_of(request: Request) -> StreamReader:
    return StreamReader(request.user.pk, request.service.key)


# What a player gets


def answer(request: Request, part: StreamTarget) -> HttpResponseBase:
    if part.kind is TargetKind.PART:
        return bytes_of(request, part)
    return playlist_of(request, part)


def playlist_of(request: Request, part: StreamTarget) -> HttpResponseBase:
    if not file_responses.slots.take():
        return file_responses.busy()
    try:
        found = request.v1.open(part.url)
        content = request.v1.whole(found, playlists.MOST_BYTES)
    finally:
        file_responses.slots.give_back()
    text = playlists.rewritten(content, part.kind, addresses(request, part, found.url))
    headers = LOCKED_HEADERS | {"Cache-Control": "private, no-store"}
    return HttpResponse(text, content_type=PLAYLIST_TYPE, headers=headers)


def addresses(request: Request, above: StreamTarget, page: str) -> playlists.Address:
    """Relative ones: the playlist is below `/stream/` itself, whatever stands before that."""
    reader, client = reader_of(request), request.v1

    def address(reference: str, kind: TargetKind) -> str:
        url = client.link_to(reference, page)
        return encrypt(StreamTarget(kind, url, above.expires_at), reader)

    return address


def bytes_of(request: Request, part: StreamTarget) -> HttpResponseBase:
    def opening(headers: dict[str, str]) -> Download:
        return request.v1.open(part.url, headers, request.method or "GET")

    return file_responses.show(request, opening, as_part, UNKNOWN)


def as_part(found: Download) -> BrowserHandling:
    return KEPT._replace(content_type=content_type_of(found.headers.get("Content-Type", "")))


def content_type_of(told: str) -> str:
    """What a service says is passed on where it is nothing that runs."""
    plain = told.partition(";")[0].strip().lower()
    return plain if plain in PART_TYPES else KEPT.content_type
