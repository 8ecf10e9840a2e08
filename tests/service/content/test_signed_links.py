from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.urls import set_script_prefix

from service.accounts import accounts
from service.content import signed_links
from service.content.signed_links import BadLink, LinkExpired
from tests.cases import each_case
from tests.service.builders import NOW, a_file, alice, mallory

pytestmark = pytest.mark.django_db


def check(link, now=NOW, **changed):
    parts = urlsplit(link)
    _, kind, account_id, subject, _ = parts.path.rsplit("/", 4)
    facts = {"account_id": int(account_id), "purpose": kind, "subject": subject}
    return signed_links.check(query=dict(parse_qsl(parts.query)), now=now, **(facts | changed))


def test_a_link_leads_to_its_account_for_a_day():
    account = alice()
    link = signed_links.file_link(account, a_file(account), now=NOW)
    assert check(link) == account
    assert check(link, NOW + timedelta(hours=24) - timedelta(seconds=1)) == account
    with pytest.raises(LinkExpired):
        check(link, NOW + timedelta(hours=25))


def test_the_same_link_comes_out_within_an_hour():
    account = alice()
    file = a_file(account)
    minutes = [
        signed_links.file_link(account, file, now=NOW + timedelta(minutes=m)) for m in (1, 30, 59)
    ]
    assert len(set(minutes)) == 1
    assert signed_links.file_link(account, file, now=NOW + timedelta(minutes=61)) not in minutes


def test_a_link_dies_with_the_password():
    account = alice()
    link = signed_links.file_link(account, a_file(account), now=NOW)
    accounts.set_password(account, "another one")
    with pytest.raises(BadLink):
        check(link)


def test_a_signature_is_for_one_purpose_subject_and_account_only():
    account, other = alice(), mallory()
    file = a_file(account)
    link = signed_links.file_link(account, file, now=NOW)
    another = str(file.pk + 1)
    for changed in ({"purpose": "zip"}, {"subject": another}, {"account_id": other.pk}):
        with pytest.raises(BadLink):
            check(link, **changed)


def test_another_key_of_the_installation_makes_all_links_void(settings):
    account = alice()
    link = signed_links.file_link(account, a_file(account), now=NOW)
    settings.SECRET_KEY = "another"
    with pytest.raises(BadLink):
        check(link)


@each_case("query", [{}, {"e": "soon", "s": "x"}, {"e": "9" * 40, "s": "é\udc80"}])
def test_any_query_is_refused_without_trouble(query):
    account = alice()
    with pytest.raises(BadLink):
        signed_links.check(account.pk, "file", "1", query, now=NOW)


def test_links_keep_the_prefix_and_name_the_file_for_people():
    account = alice()
    file = a_file(account, "Ünder \u202e?#.mkv")
    set_script_prefix("/home/ferry/")
    try:
        path = urlsplit(signed_links.file_link(account, file, now=NOW)).path
    finally:
        set_script_prefix("/")
    assert path.startswith(f"/home/ferry/content/file/{account.pk}/{file.pk}/%C3%9Cnder")
    assert path.isascii()
    assert not set(path) & set("?# ")
