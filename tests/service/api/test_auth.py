import base64
from datetime import date

import httpx

from service.accounts import accounts, wrong_passwords
from service.models import Account
from tests.cases import each_case
from tests.service.api.conftest import PASSWORD
from tests.service.api.reading import word
from tests.service.builders import an_account


def test_the_password_may_contain_colons(api):
    assert ":" in PASSWORD
    assert api.get("/rest/user").status_code == 200


def test_without_credentials_the_answer_asks_for_them(account, knock):
    answer = knock().get("/rest/folder")
    assert word(answer) == (401, "access_denied")
    assert answer.json()["result"] is False
    assert answer.headers["www-authenticate"].startswith('Basic realm="Ferry"')


@each_case("pair", [("alice@example.org", "wrong"), ("bob@example.org", PASSWORD)])
def test_wrong_credentials_are_refused(pair, account, knock):
    assert word(knock(*pair).get("/rest/folder")) == (401, "access_denied")


@each_case(
    "header",
    [
        "",
        "Basic",
        "Basic !",
        "Basic ====",
        "Basic YWxpY2U=",
        "Bearer YTpi",
        "Basic " + "A" * 7000,
        "Basic " + base64.b64encode(b"a\0lice@example.org:x").decode(),
        "Basic " + base64.b64encode(b"\xff\xfe:\xff").decode(),
        "Basic " + base64.b64encode(b":").decode(),
    ],
)
def test_an_unreadable_header_is_refused(header, account, knock):
    answer = knock().get("/rest/folder", headers={"authorization": header})
    assert word(answer) == (401, "access_denied")


@each_case("encoding", ["utf-8", "latin-1"])
def test_the_password_may_have_either_encoding(encoding, db, knock):
    an_account("carol@example.org", password="schöner Hafen")
    pair = base64.b64encode("carol@example.org:schöner Hafen".encode(encoding)).decode()
    answer = knock().get("/rest/user", headers={"authorization": f"basic {pair}"})
    assert answer.status_code == 200


def test_a_free_account_has_no_access(api, account):
    accounts.set_kind(account, Account.Kind.FREE)
    assert word(api.get("/rest/folder")) == (403, "premium_required")


def test_a_free_account_has_access_until_a_day(api, account, settings):
    accounts.set_kind(account, Account.Kind.FREE)
    settings.FREE_ACCESS_UNTIL = date(2999, 1, 1)
    answer = api.get("/rest/user")
    assert answer.json()["account"]["premium"] is False


def test_too_many_attempts_require_a_wait(account, knock):
    guessing = knock(account.email, "wrong")
    for _try in range(wrong_passwords.MOST_BY_ADDRESS_AND_NAME):
        assert guessing.get("/rest/folder").status_code == 401
    answer = guessing.get("/rest/folder")
    assert word(answer) == (429, "too_many_tries")
    assert int(answer.headers["retry-after"]) > 0


def test_guessers_do_not_lock_out_the_account_holder(api, account, knock):
    assert api.get("/rest/user").status_code == 200
    for _try in range(wrong_passwords.MOST_BY_ADDRESS_AND_NAME + 1):
        knock(account.email, "wrong").get("/rest/folder")
    assert api.get("/rest/user").status_code == 200


def test_credentials_come_before_the_body(account, knock):
    def body():
        yield b"x"
        raise AssertionError("The body was read")

    answer = knock().post("/rest/transfer/file", content=body(), headers={"content-length": "9999"})
    assert isinstance(answer, httpx.Response)
    assert word(answer) == (401, "access_denied")
