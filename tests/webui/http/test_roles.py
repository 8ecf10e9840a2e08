"""Every URL against every role and a stranger. A new URL without a row here fails."""

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from tests.cases import each_case
from webui.models import Role

GUEST, MEMBER, OWNER, STRANGER = Role.GUEST, Role.MEMBER, Role.OWNER, None

# URL name: the lowest role that may use it (STRANGER: everyone), the method, and the arguments.
TABLE = {
    "healthz": (STRANGER, "get", {}),
    "readyz": (STRANGER, "get", {}),
    "metrics": (STRANGER, "get", {}),
    "files": (GUEST, "get", {}),
    "files-folder": (GUEST, "get", {"folder": "7"}),
    "files-listing": (GUEST, "get", {"folder": "0"}),
    "files-rows": (GUEST, "get", {"folder": "0"}),
    "files-row": (GUEST, "get", {"folder": "0", "key": "file-7"}),
    "files-details": (GUEST, "get", {"folder": "0"}),
    "files-download": (GUEST, "get", {"file": "7"}),
    "files-thumb": (GUEST, "get", {"file": "7", "version": "abc"}),
    "stream-image": (GUEST, "get", {"file": "7", "version": "abc"}),
    "stream-original": (GUEST, "get", {"file": "7"}),
    "stream-pdf": (GUEST, "get", {"file": "7"}),
    "files-tags": (GUEST, "get", {"file": "7"}),
    "preview": (GUEST, "get", {"folder": "0", "file": "7"}),
    "music-queue": (GUEST, "get", {"folder": "0", "file": "7"}),
    "preview-more": (GUEST, "get", {"folder": "0", "file": "7"}),
    "stream-scenes": (GUEST, "get", {"file": "7"}),
    "stream-hls": (GUEST, "get", {"file": "7"}),
    "stream-mp4": (GUEST, "get", {"file": "7"}),
    "watch-position": (GUEST, "post", {"file": "7"}),
    "watch-mark": (GUEST, "post", {"file": "7"}),
    "files-folder-zip": (GUEST, "get", {"folder": "0"}),
    "files-zip": (GUEST, "post", {"folder": "0"}),
    "files-archive": (GUEST, "get", {"key": "guess"}),
    "files-archive-download": (GUEST, "get", {"key": "guess"}),
    "files-largest": (GUEST, "get", {}),
    "search": (GUEST, "get", {}),
    "search-results": (GUEST, "get", {}),
    "search-folder": (MEMBER, "get", {}),
    "search-elsewhere": (GUEST, "get", {"folder": "0"}),
    "files-deleted": (MEMBER, "get", {}),
    "files-deleted-restore": (MEMBER, "post", {}),
    "files-deleted-delete": (MEMBER, "post", {}),
    "files-undo": (MEMBER, "post", {}),
    "files-move": (MEMBER, "post", {"folder": "0"}),
    "files-unpack": (MEMBER, "post", {"folder": "0", "key": "file-7"}),
    "files-unpackings": (MEMBER, "get", {"folder": "0"}),
    "files-new": (MEMBER, "post", {"folder": "0"}),
    "files-rename": (MEMBER, "post", {"folder": "0", "key": "file-7"}),
    "files-rename-form": (MEMBER, "get", {"folder": "0", "key": "file-7"}),
    "files-delete": (MEMBER, "post", {"folder": "0"}),
    "files-loss": (MEMBER, "post", {"folder": "0"}),
    "files-upload": (MEMBER, "post", {"folder": "0"}),
    "files-resumable": (MEMBER, "patch", {"key": "a" * 32}),
    "files-resumable-cancel": (MEMBER, "post", {"key": "a" * 32}),
    "files-resumable-begin": (MEMBER, "post", {"folder": "0"}),
    "stream-part": (GUEST, "get", {"token": "guess"}),
    "subtitles": (GUEST, "get", {"folder": "0", "file": "7", "sub": "8"}),
    "share": (GUEST, "post", {"folder": "0", "key": "file-7"}),
    "share-folder": (GUEST, "post", {"folder": "0"}),
    "share-new": (MEMBER, "post", {"folder": "0"}),
    "share-page": (STRANGER, "get", {"token": "guess"}),
    "share-inside": (STRANGER, "get", {"token": "guess", "path": "files/7/"}),
    "share-receive": (STRANGER, "get", {"token": "guess"}),
    "share-m3u": (STRANGER, "get", {"token": "guess", "name": "x.m3u"}),
    "share-open": (STRANGER, "get", {"token": "guess", "file": "7", "name": "x.mkv"}),
    "account-link": (GUEST, "get", {"share": 7}),
    "account-link-revoke": (GUEST, "get", {"share": 7}),
    "transfers": (GUEST, "get", {}),
    "transfers-list": (GUEST, "get", {}),
    "transfers-running": (GUEST, "get", {}),
    "transfers-open": (GUEST, "get", {"key": "t7"}),
    "transfers-remove": (MEMBER, "post", {"key": "t7"}),
    "transfers-link": (MEMBER, "get", {"key": "t7"}),
    "transfers-retry": (MEMBER, "post", {"key": "s7"}),
    "transfers-change": (MEMBER, "post", {}),
    "transfers-order": (MEMBER, "post", {}),
    "transfers-cancel": (MEMBER, "post", {}),
    "transfers-retry-chosen": (MEMBER, "post", {}),
    "transfers-links": (MEMBER, "post", {}),
    "transfers-speeds": (GUEST, "get", {}),
    "account-traffic": (MEMBER, "get", {}),
    "transfers-details": (GUEST, "get", {"key": "t7"}),
    "transfers-files": (MEMBER, "post", {"key": "t7"}),
    "transfers-files-progress": (MEMBER, "get", {"key": "t7"}),
    "transfers-limits": (MEMBER, "post", {"key": "t7"}),
    "transfers-speed": (GUEST, "get", {}),
    "transfers-switch": (OWNER, "post", {}),
    "transfers-clear": (MEMBER, "post", {}),
    "transfers-restore": (MEMBER, "post", {}),
    "transfers-send": (MEMBER, "post", {}),
    "add": (MEMBER, "get", {}),
    "add-read": (MEMBER, "post", {}),
    "add-shared": (STRANGER, "get", {}),
    "send-token": (STRANGER, "post", {}),
    "manifest": (STRANGER, "get", {}),
    "worker": (STRANGER, "get", {}),
    "account": (GUEST, "get", {}),
    "account-server": (GUEST, "get", {}),
    "account-server-storage": (OWNER, "post", {}),
    "account-server-names": (OWNER, "post", {}),
    "account-activity": (OWNER, "get", {}),
    "drive": (STRANGER, "get", {}),
    "qbittorrent": (STRANGER, "get", {"path": "auth/login"}),
    "transmission": (STRANGER, "get", {}),
    "drive-entry": (STRANGER, "get", {"path": "Films"}),
    "account-tokens": (GUEST, "post", {}),
    "account-token-revoke": (GUEST, "post", {"token": 1}),
    "account-notices": (GUEST, "get", {}),
    "account-notices-device": (GUEST, "post", {}),
    "account-notices-add": (MEMBER, "post", {}),
    "account-notices-test": (GUEST, "post", {"channel": 7}),
    "account-notices-remove": (GUEST, "post", {"channel": 7}),
    "feed": (STRANGER, "get", {"token": "guess"}),
    "account-health": (OWNER, "get", {}),
    "account-limits": (OWNER, "get", {}),
    "account-limits-schedule": (OWNER, "post", {}),
    "account-password": (GUEST, "post", {}),
    "account-language": (GUEST, "post", {}),
    "account-look": (STRANGER, "post", {}),
    "account-service-check": (GUEST, "post", {}),
    "account-wish-retry": (MEMBER, "post", {"wish": "7"}),
    "account-wish-forget": (MEMBER, "post", {"wish": "7"}),
    "account-connection": (OWNER, "post", {}),
    "account-connection-forget": (OWNER, "get", {}),
    "account-devices-signout": (GUEST, "post", {"device": 7}),
    "account-devices-signout-others": (GUEST, "post", {}),
    "account-people-invite": (OWNER, "post", {}),
    "account-people-revoke": (OWNER, "post", {"invitation": 7}),
    "account-people-person": (OWNER, "get", {"person": 7}),
    "account-people-signout": (OWNER, "post", {"person": 7}),
    "account-people-remove": (OWNER, "post", {"person": 7}),
    "account-programs": (OWNER, "post", {}),
    "account-pair": (GUEST, "post", {}),
    "account-pair-offered": (GUEST, "get", {"pairing": 7}),
    "account-pair-code": (GUEST, "get", {}),
    "pair": (STRANGER, "get", {}),
    "pair-state": (STRANGER, "get", {}),
    "pair-accept": (STRANGER, "get", {"token": "guess"}),
    "join": (STRANGER, "get", {"token": "guess"}),
    "secure": (STRANGER, "get", {}),
    "secure-certificate": (STRANGER, "get", {}),
    "secure-profile": (STRANGER, "get", {}),
    "secure-move": (GUEST, "post", {}),
    "secure-enter": (STRANGER, "get", {"token": "guess"}),
    "signin": (STRANGER, "get", {}),
    "signout": (GUEST, "post", {}),
    "welcome": (STRANGER, "get", {"token": "guess"}),
    "offline": (STRANGER, "get", {}),
}


def patterns(resolver: URLResolver) -> list[URLPattern]:
    """Return the site's URLs; the service checks its own accounts and signed links."""
    found = []
    for entry in resolver.url_patterns:
        if getattr(getattr(entry, "urlconf_module", None), "__package__", "").startswith("service"):
            continue
        found += patterns(entry) if isinstance(entry, URLResolver) else [entry]
    return found


def test_every_url_has_a_row_and_every_row_a_url():
    assert {pattern.name for pattern in patterns(get_resolver())} == set(TABLE)


@each_case("name", TABLE)
def test_the_view_itself_says_who_may(name):
    view = next(p.callback for p in patterns(get_resolver()) if p.name == name)
    assert view.open_to == TABLE[name][0]


@each_case("name", TABLE)
def test_strangers_are_asked_to_sign_in(name, mallory):
    lowest, method, arguments = TABLE[name]
    answer = getattr(mallory, method)(reverse(name, kwargs=arguments))
    asked_to_sign_in = answer.status_code == 302 and "/signin/" in answer["Location"]
    assert asked_to_sign_in == (lowest is not STRANGER)


@pytest.mark.promise("each role may do what the table says")
@pytest.mark.slow
@each_case("role", list(Role))
@each_case("name", TABLE)
def test_each_role_may_do_what_the_table_says(name, role, alice, bob, gwen):
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
