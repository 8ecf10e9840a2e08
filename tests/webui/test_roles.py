"""Every URL against every role and a stranger. A new URL without a row here fails."""

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from webui.models import Role

GUEST, MEMBER, OWNER, STRANGER = Role.GUEST, Role.MEMBER, Role.OWNER, None

# URL name: who may, from this role on (STRANGER: everybody), and how it is asked.
TABLE = {
    "healthz": (STRANGER, "get", {}),
    "readyz": (STRANGER, "get", {}),
    "files": (GUEST, "get", {}),
    "files-folder": (GUEST, "get", {"folder": "7"}),
    "files-listing": (GUEST, "get", {"folder": "0"}),
    "files-rows": (GUEST, "get", {"folder": "0"}),
    "files-row": (GUEST, "get", {"folder": "0", "key": "file-7"}),
    "files-download": (GUEST, "get", {"file": "7"}),
    "files-thumb": (GUEST, "get", {"file": "7", "mark": "abc"}),
    "files-folder-zip": (GUEST, "get", {"folder": "0"}),
    "files-zip": (GUEST, "post", {"folder": "0"}),
    "files-archive": (GUEST, "get", {"key": "guess"}),
    "files-archive-download": (GUEST, "get", {"key": "guess"}),
    "files-new": (MEMBER, "post", {"folder": "0"}),
    "files-rename": (MEMBER, "post", {"folder": "0", "key": "file-7"}),
    "files-rename-form": (MEMBER, "get", {"folder": "0", "key": "file-7"}),
    "files-delete": (MEMBER, "post", {"folder": "0"}),
    "files-loss": (MEMBER, "post", {"folder": "0"}),
    "files-upload": (MEMBER, "post", {"folder": "0"}),
    "account": (GUEST, "get", {}),
    "account-password": (GUEST, "post", {}),
    "account-look": (STRANGER, "post", {}),
    "account-service-check": (GUEST, "post", {}),
    "account-connection": (OWNER, "post", {}),
    "account-connection-forget": (OWNER, "get", {}),
    "signin": (STRANGER, "get", {}),
    "signout": (GUEST, "post", {}),
    "welcome": (STRANGER, "get", {"token": "guess"}),
    "offline": (STRANGER, "get", {}),
}


def patterns(resolver: URLResolver) -> list[URLPattern]:
    """The site's; the service has accounts and signatures of its own."""
    found = []
    for entry in resolver.url_patterns:
        if getattr(getattr(entry, "urlconf_module", None), "__package__", "").startswith("service"):
            continue
        found += patterns(entry) if isinstance(entry, URLResolver) else [entry]
    return found


def test_every_url_has_a_row_and_every_row_a_url():
    assert {pattern.name for pattern in patterns(get_resolver())} == set(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_the_view_itself_says_who_may(name):
    view = next(p.callback for p in patterns(get_resolver()) if p.name == name)
    assert view.open_to == TABLE[name][0]


@pytest.mark.parametrize("name", TABLE)
def test_strangers_are_asked_to_sign_in(name, mallory):
    lowest, method, arguments = TABLE[name]
    answer = getattr(mallory, method)(reverse(name, kwargs=arguments))
    asked_to_sign_in = answer.status_code == 302 and "/signin/" in answer["Location"]
    assert asked_to_sign_in == (lowest is not STRANGER)


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("name", TABLE)
def test_each_role_may_what_the_table_says(name, role, alice, bob, gwen):
    lowest, method, arguments = TABLE[name]
    person = {OWNER: alice, MEMBER: bob, GUEST: gwen}[role]
    answer = getattr(person.client, method)(reverse(name, kwargs=arguments))
    may = lowest is STRANGER or role.includes(lowest)
    assert (answer.status_code != 403) == may


def test_each_role_includes_those_before_it():
    assert OWNER.includes(MEMBER)
    assert MEMBER.includes(GUEST)
    assert not GUEST.includes(MEMBER)
    assert not MEMBER.includes(OWNER)
