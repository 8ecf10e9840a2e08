"""Sign in a device from another that is already signed in."""

import secrets
from datetime import datetime, timedelta

from django.contrib.sessions.models import Session
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from webui.models import Pairing, User, digest_of

LINK_LIFETIME = timedelta(minutes=2)
CODE_LIFETIME = timedelta(minutes=5)
# Pairings are kept after they expire, since the other device may ask for the outcome later.
REMEMBERED = timedelta(hours=1)
# No letters that look like others, and no vowels, so that codes spell no words.
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
CODE_LENGTH = 8
# Stands for the session key of a link that was made in the terminal, outside any session.
TERMINAL = "terminal"


def offer(
    user: User, session_key: str, now: datetime, lifetime: timedelta = LINK_LIFETIME
) -> tuple[Pairing, str]:
    """Return the row and token of a new link, which replaces the person's earlier links."""
    Pairing.objects.filter(user=user, code_digest="", used_at=None).delete()
    token = secrets.token_urlsafe(32)
    row = Pairing.objects.create(
        digest=digest_of(token),
        user=user,
        session_key=session_key,
        epoch=user.epoch,
        expires_at=now + lifetime,
    )
    return row, token


def find_offer(token: str, now: datetime) -> Pairing | None:
    return _valid_pairings(now).filter(digest=digest_of(token), code_digest="").first()


def accept(token: str, agent: str, address: str, now: datetime) -> User | None:
    """Return the person whom the link signs in, to exactly one caller."""
    rows = _valid_pairings(now).filter(digest=digest_of(token), code_digest="")
    return _consume(rows, used_at=now, agent=agent, address=address)


def begin(agent: str, address: str, now: datetime) -> tuple[str, str]:
    """Return the secret that the waiting device keeps, and the code that it shows."""
    secret = secrets.token_urlsafe(32)
    code = "".join(secrets.choice(LETTERS) for _each in range(CODE_LENGTH))
    Pairing.objects.create(
        digest=digest_of(secret),
        code_digest=digest_of(code),
        agent=agent,
        address=address,
        expires_at=now + CODE_LIFETIME,
    )
    return secret, code


def waiting(secret: str, now: datetime) -> Pairing | None:
    rows = _open_pairings(now).filter(Q(user=None) | Q(pk__in=_valid_pairings(now)))
    return rows.filter(digest=digest_of(secret)).exclude(code_digest="").first()


def find_pairing(code: str, now: datetime) -> Pairing | None:
    """Return the pairing of the device that shows this code, if no one has approved it yet."""
    spelled = "".join(letter for letter in code.upper() if letter in LETTERS)
    return _open_pairings(now).filter(code_digest=digest_of(spelled), user=None).first()


def is_over(pairing: Pairing, now: datetime) -> bool:
    return not now < pairing.expires_at <= now + CODE_LIFETIME


def approve(pairing: Pairing, user: User, session_key: str, now: datetime) -> bool:
    rows = _open_pairings(now).filter(pk=pairing.pk, user=None)
    return bool(rows.update(user=user, session_key=session_key, epoch=user.epoch))


def finish(secret: str, now: datetime) -> User | None:
    """Return the person who approved, once, to the device that keeps the secret."""
    rows = _valid_pairings(now).filter(digest=digest_of(secret)).exclude(code_digest="")
    return _consume(rows, used_at=now)


def number_of(token: str) -> str:
    """Return four digits that both devices show, so that people see they mean the same link."""
    number = int(digest_of(f"number {token}")[:8], 16) % 10_000
    return f"{number // 100:02} {number % 100:02}"


def end(user: User) -> None:
    Pairing.objects.filter(user=user, used_at=None).delete()


def prune(now: datetime) -> None:
    Pairing.objects.filter(expires_at__lte=now - REMEMBERED).delete()


def _consume(rows: QuerySet[Pairing], **facts: object) -> User | None:
    row = rows.first()
    return row.user if row and rows.update(**facts) else None


def _valid_pairings(now: datetime) -> QuerySet[Pairing]:
    """Return open pairings offered or approved in a session that is still valid, or in the
    terminal."""
    session = Session.objects.filter(session_key=OuterRef("session_key"), expire_date__gt=now)
    return _open_pairings(now).filter(
        Q(session_key=TERMINAL) | Exists(session), user__epoch=F("epoch")
    )


def _open_pairings(now: datetime) -> QuerySet[Pairing]:
    """Return unused pairings that expire within `CODE_LIFETIME`, even if the clock was set back."""
    ends = {"expires_at__gt": now, "expires_at__lte": now + CODE_LIFETIME}
    return Pairing.objects.filter(**ends, used_at=None)
