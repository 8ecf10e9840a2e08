"""A link for one person, whatever the database does for two at once."""

from datetime import timedelta

import pytest
from django.utils import timezone

from webui.models import OneTimeLink, Role
from webui.signin import one_time_links

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("purpose", [OneTimeLink.WELCOME, OneTimeLink.INVITATION])
def test_only_the_first_of_two_who_found_a_link_uses_it_up(alice, purpose):
    """On PostgreSQL, both may find it before either of them deletes it."""
    now = timezone.now()
    made_by = alice.user if purpose == OneTimeLink.INVITATION else None
    token = one_time_links.issue(purpose, now, timedelta(hours=1), Role.MEMBER, made_by)
    assert one_time_links.find(purpose, token, now)
    uses = [one_time_links.consume(purpose, token, now) for _person in range(2)]
    assert uses == [True, False]
    assert not one_time_links.find(purpose, token, now)
