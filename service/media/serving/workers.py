"""The workers that make media for other machines, and in which order to ask them about a file."""

import socket
from datetime import timedelta
from hashlib import sha256

from django.conf import settings
from django.db.models.functions import Now

from service.media.serving import requests
from service.media.serving.requests import Facts
from service.models import File, MediaWorker

# Longer than a worker tries, so that its error message arrives.
ASK_SECONDS = 25.0
LEASE = timedelta(seconds=20)
RENEW_SECONDS = 5.0


def announce(address: str) -> None:
    """Announce an address at which other machines may ask, for the length of a lease."""
    alive_until = Now() + LEASE
    MediaWorker.objects.update_or_create(address=address, defaults={"alive_until": alive_until})


def withdraw(address: str) -> None:
    MediaWorker.objects.filter(address=address).delete()


def rank_for(file: File) -> list[str]:
    """Return the workers to ask for a file's media, in order; empty on a single machine.

    The order stays the same while the set of workers does, so each film is converted in one place.
    If a worker dies, only its films move.
    """
    if not settings.STORE_URL:
        return []
    key = f"{file.sha1}-{file.size_bytes:x}"
    addresses = MediaWorker.objects.filter(alive_until__gt=Now())
    return sorted(
        addresses.values_list("address", flat=True),
        key=lambda address: sha256(f"{key} {address}".encode()).digest(),
    )


def ask(file: File, kind: str, client: socket.socket | None = None, **more: object) -> Facts:
    """Ask about a file. Raises NoWorker, Busy, CannotConvert, NotFound."""
    return requests.ask(kind, ASK_SECONDS, client, rank_for(file), file=file.pk, **more)
