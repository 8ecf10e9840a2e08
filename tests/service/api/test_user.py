from tests.service.api.reading import sample, shape
from tests.service.builders import a_file


def test_the_account_is_as_the_sample_shows_it(api, account):
    a_file(account, size_bytes=7)
    facts = api.get("/rest/user").json()
    assert list(facts) == list(sample("user"))
    assert shape(facts) == shape(sample("user"))
    assert facts["space_used"] == facts["account"]["space_used"] == 7


def test_no_other_account_is_to_be_seen(api, account):
    mine = api.get("/rest/user").json()
    for user_id in (0, account.pk, account.pk + 1):
        assert api.get(f"/rest/user/{user_id}").json() == mine


def test_no_secret_is_in_it(api, account):
    text = api.get("/rest/user").text
    for secret in (account.password, account.link_key):
        assert secret not in text
