from tests.service.api.reading import sample, shape, word
from tests.service.builders import a_file


def test_the_account_is_as_the_sample_shows_it(api, account):
    a_file(account, size_bytes=7)
    facts = api.get("/rest/user").json()
    assert list(facts) == list(sample("user"))
    assert shape(facts) == shape(sample("user"))
    assert facts["space_used"] == facts["account"]["space_used"] == 7


def test_no_other_account_is_to_be_seen(api, account):
    assert api.get(f"/rest/user/{account.pk}").status_code == 200
    assert word(api.get(f"/rest/user/{account.pk + 1}")) == (404, "not_found")


def test_no_secret_is_in_it(api, account):
    text = api.get("/rest/user").text
    for secret in (account.password, account.link_key):
        assert secret not in text
