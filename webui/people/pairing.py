"""Sign a device in from another one that is already signed in."""

import secrets
from datetime import datetime, timedelta

from django.contrib.sessions.models import Session
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from webui.models import Pairing, User, digest_of

LINK_LIFETIME = timedelta(minutes=2)
CODE_LIFETIME = timedelta(minutes=5)
# The other device may ask a little later how it went.
REMEMBERED = timedelta(hours=1)
# Nothing that looks like something else, and no vowels, so that no word comes out.
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
CODE_LENGTH = 8
# In the place of a session's key: a link that was made in the terminal comes from no session.
TERMINAL = "terminal"


def offer(
    user: User, session_key: str, now: datetime, lifetime: timedelta = LINK_LIFETIME
) -> tuple[Pairing, str]:
    """A link's token beside its row. A new one takes the place of those before."""
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


def offered(token: str, now: datetime) -> Pairing | None:
    return _granted(now).filter(digest=digest_of(token), code_digest="").first()


def accept(token: str, agent: str, address: str, now: datetime) -> User | None:
    """The person whom the link signs in, for exactly one caller."""
    rows = _granted(now).filter(digest=digest_of(token), code_digest="")
    row = rows.first()
    if row is None or not rows.update(used_at=now, agent=agent, address=address):
        return None
    return row.user


def begin(agent: str, address: str, now: datetime) -> tuple[str, str]:
    """The secret that the waiting device keeps, and the code that it shows."""
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
    rows = _open(now).filter(Q(user=None) | Q(pk__in=_granted(now)))
    return rows.filter(digest=digest_of(secret)).exclude(code_digest="").first()


def find_pairing(code: str, now: datetime) -> Pairing | None:
    """The device that shows this code and that nobody has approved yet."""
    spelled = "".join(letter for letter in code.upper() if letter in LETTERS)
    return _open(now).filter(code_digest=digest_of(spelled), user=None).first()


def is_over(pairing: Pairing, now: datetime) -> bool:
    return not now < pairing.expires_at <= now + CODE_LIFETIME


def approve(pairing: Pairing, user: User, session_key: str, now: datetime) -> bool:
    rows = _open(now).filter(pk=pairing.pk, user=None)
    return bool(rows.update(user=user, session_key=session_key, epoch=user.epoch))


def finish(secret: str, now: datetime) -> User | None:
    """The person who approved, once, for the device that keeps the secret."""
    rows = _granted(now).filter(digest=digest_of(secret)).exclude(code_digest="")
    row = rows.first()
    if row is None or not rows.update(used_at=now):
        return None
    return row.user


def number_of(token: str) -> str:
    """Four digits that both devices show, so that people see they mean the same link."""
    number = int(digest_of(f"number {token}")[:8], 16) % 10_000
    return f"{number // 100:02} {number % 100:02}"


def end(user: User) -> None:
    Pairing.objects.filter(user=user, used_at=None).delete()


def _granted(now: datetime) -> QuerySet[Pairing]:
    """Those that somebody offered or approved in a session that still lives, or in the terminal."""
    session = Session.objects.filter(session_key=OuterRef("session_key"), expire_date__gt=now)
    return _open(now).filter(Q(session_key=TERMINAL) | Exists(session), user__epoch=F("epoch"))


def _open(now: datetime) -> QuerySet[Pairing]:
    """A clock that was put back makes none last for longer."""
    ends = {"expires_at__gt": now, "expires_at__lte": now + CODE_LIFETIME}
    return Pairing.objects.filter(**ends, used_at=None)
