"""Invite people: links by which others join."""

from datetime import datetime, timedelta

from django.db import transaction

from webui.models import OneTimeLink, Role, User
from webui.people.people import ChangeRefused
from webui.signin import one_time_links

INVITATION_LIFETIME = timedelta(days=3)
MOST_INVITATIONS = 50


class TooManyInvitations(ChangeRefused):
    """So many invitations are open that something must be wrong."""


def invite(role: Role, by: User, now: datetime) -> str:
    """Return the token of a link by which one person joins; only its bearer knows the token."""
    if one_time_links.invitations(now).count() >= MOST_INVITATIONS:
        raise TooManyInvitations
    return one_time_links.issue(OneTimeLink.INVITATION, now, INVITATION_LIFETIME, role, by)


def join(token: str, name: str, password: str, now: datetime) -> User | None:
    """Add a person, or return None if the link was used, revoked, or expired in the meantime."""
    with transaction.atomic():
        link = one_time_links.find(OneTimeLink.INVITATION, token, now)
        if link is None or not one_time_links.consume(OneTimeLink.INVITATION, token, now):
            return None
        return User.objects.create_user(name, password, Role(link.role))
