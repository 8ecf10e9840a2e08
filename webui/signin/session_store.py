"""Django's sessions in the database, and who is signed in, read anew only after a change."""

from copy import copy
from functools import partial
from typing import Any, cast

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends import db
from django.contrib.sessions.base_session import AbstractBaseSession
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from common.storage import row_cache
from webui.models import User

KEYS = (SESSION_KEY, HASH_SESSION_KEY, BACKEND_SESSION_KEY)


class SessionStore(db.SessionStore):
    def __init__(self, session_key: str | None = None) -> None:
        # Cookies can hold NUL, with which PostgreSQL compares nothing.
        is_key = session_key is not None and session_key.isalnum()
        super().__init__(session_key if is_key else None)

    def load(self) -> dict[str, Any]:
        """Return what the session holds. Django handles one that is unknown or has expired."""
        stored = row_cache.read(("session", self.session_key), self._find_row)
        if stored is not None and stored.expire_date > timezone.now():
            return self.decode(stored.session_data)
        return super().load()

    def _find_row(self) -> AbstractBaseSession | None:
        return self.model.objects.filter(session_key=self.session_key).first()


class SessionUser(AuthenticationMiddleware):
    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = cast("User", SimpleLazyObject(partial(user_of, request)))


def user_of(request: HttpRequest) -> AbstractBaseUser | AnonymousUser:
    """Return the person whom the session names, checked against their row."""
    facts = tuple(request.session.get(key) for key in KEYS)
    return copy(row_cache.read(("user", *facts), partial(get_user, request)))
