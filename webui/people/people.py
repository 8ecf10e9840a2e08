"""The people of Ferry and their invitations: what an owner decides about others."""

from datetime import datetime, timedelta

from django.db import transaction

from common.host import host
from webui.models import Notice, OneTimeLink, Role, User
from webui.people import pairing, program_password
from webui.signin import devices, one_time_links
from webui.tokens import tokens

INVITATION_LIFETIME = timedelta(days=3)
MOST_INVITATIONS = 50


class ChangeRefused(Exception):  # noqa: N818  Errors are nouns here.
    """The current state doesn't allow this change, for the reason in a word.

    last_owner: has to stay, since only an owner can let people in. no_owner: the person who decides
    was an owner when the page was opened. too_many_invitations: something must be wrong.
    """


def invite(role: Role, by: User, now: datetime) -> str:
    """Return the token of a link by which one person joins; only its bearer knows the token."""
    if one_time_links.invitations(now).count() >= MOST_INVITATIONS:
        raise ChangeRefused("too_many_invitations")
    return one_time_links.issue(OneTimeLink.INVITATION, now, INVITATION_LIFETIME, role, by)


def join(token: str, name: str, password: str, now: datetime) -> User | None:
    """Add a person, or return None if the link was used, revoked, or expired in the meantime."""
    with transaction.atomic():
        link = one_time_links.find(OneTimeLink.INVITATION, token, now)
        if link is None or not one_time_links.consume(OneTimeLink.INVITATION, token, now):
            return None
        return User.objects.create_user(name, password, Role(link.role))


def change_role(person: User, role: Role, by: User) -> None:
    with transaction.atomic():
        _decide(person, by, stays_owner=role is Role.OWNER)
        if User.objects.filter(pk=person.pk).exclude(role=role).update(role=role):
            _end_grants(person, role)


def remove(person: User, by: User) -> None:
    """Remove a person, and sign them out everywhere in the same transaction."""
    with transaction.atomic():
        _decide(person, by, stays_owner=False)
        program_password.end(person)
        # Signed links name no person, so only a new key invalidates those that this person has.
        host().embedded.end_links()
        devices.sign_out(person.devices.all())
        person.delete()


def _end_grants(person: User, role: Role) -> None:
    """Revoke the grants of the previous role, which would become valid again with that role."""
    pairing.end(person)
    OneTimeLink.objects.filter(made_by=person).delete()
    if role is not Role.OWNER:
        program_password.end(person)
        Notice.withdraw(person)
    tokens.revoke_excess(person, role)
    if not role.includes(Role.MEMBER):
        person.channels.filter(device=None).delete()


def _decide(person: User, by: User, *, stays_owner: bool) -> None:
    """Check that `by` may decide. The row locks serialize two owners who remove each other."""
    owners = set(
        User.objects.select_for_update().filter(role=Role.OWNER).values_list("pk", flat=True)
    )
    if by.pk not in owners:
        raise ChangeRefused("no_owner")
    if owners == {person.pk} and not stays_owner:
        raise ChangeRefused("last_owner")
