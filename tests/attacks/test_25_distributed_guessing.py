"""Row 25: guesses at one password from many addresses, through both processes, across restarts.

For control characters in log lines: tests/host/test_logs.py. For what each limit counts:
tests/service/accounts/test_credentials.py, tests/webui/signin/test_views.py.
"""

import re
from base64 import b64encode
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from configparser import ConfigParser
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from threading import Barrier
from typing import NamedTuple
from urllib.parse import unquote, urlencode

import httpx
import pytest
from bs4 import BeautifulSoup

from service.accounts import wrong_passwords
from tests.running import PASSWORD, Ferry, running
from webui.signin import throttle

BASE = Path(__file__).resolve().parents[2]
EMAIL = "alice@example.org"
SETTINGS = {"WEB_PROCESSES": "2", "TRUSTED_PROXIES": "127.0.0.1"}
HOME, ELSEWHERE = "192.0.2.7", "203.0.113.9"
MANY = 100
GENEROUS = 180
# Each password from a new network takes a hash of its own, and Ferry answers 503 to a call that
# waits 20 seconds for its turn: on a busy machine, 100 of them would wait that long.
AT_ONCE = 25
# Both processes may read a count at the same moment.
OVERSHOOT = 1

pytestmark = pytest.mark.slow


class Request(NamedTuple):
    method: str
    path: str
    body: str
    headers: dict[str, str]


def strangers(most: int) -> list[str]:
    return [f"198.51.{number // 250}.{number % 250}" for number in range(most)]


def all_at_once(port: int, requests: list[Request]) -> list[HTTPResponse]:
    """Send all requests once all are connected: connecting takes longer than a hash."""
    start = Barrier(len(requests))

    def one(each: Request) -> HTTPResponse:
        with closing(HTTPConnection("127.0.0.1", port, timeout=GENEROUS)) as connection:
            connection.connect()
            start.wait(GENEROUS)
            connection.request(each.method, each.path, each.body, each.headers)
            response = connection.getresponse()
            response.read()
            return response

    with ThreadPoolExecutor(len(requests)) as pool:
        return list(pool.map(one, requests))


def call_of(password: str, address: str, email: str = EMAIL) -> Request:
    """Return a request as a program sends it to /rest."""
    pair = b64encode(f"{email}:{password}".encode()).decode()
    headers = {"Host": "localhost", "X-Forwarded-For": address, "Authorization": f"Basic {pair}"}
    return Request("GET", "/rest/user", "", headers)


def statuses(ferry: Ferry, calls: list[Request]) -> Counter[int]:
    return Counter(answer.status for answer in all_at_once(ferry.port, calls))


def statuses_in_groups(ferry: Ferry, calls: list[Request]) -> Counter[int]:
    groups = [calls[first : first + AT_ONCE] for first in range(0, len(calls), AT_ONCE)]
    return sum((statuses(ferry, group) for group in groups), Counter())


def make_account(ferry: Ferry) -> None:
    ferry.say("account", "add", EMAIL, words=f"{PASSWORD}\n")


def failures(ferry: Ferry) -> list[str]:
    return re.findall(r"WARNING ferry\.rest (?:failed|limited) .*address=(\S+)", ferry.log)


def test_many_addresses_processes_and_restarts_share_one_limit_at_rest(tmp_path):
    many = strangers(wrong_passwords.MOST_BY_ACCOUNT + 40)
    with running(tmp_path, **SETTINGS) as ferry:
        make_account(ferry)
        assert statuses(ferry, [call_of(PASSWORD, HOME)]) == {200: 1}
        guesses = [call_of(f"guess from {each}", each) for each in many]
        answers = statuses_in_groups(ferry, guesses)
        assert set(answers) == {401, 429}
        assert 0 <= answers[401] - wrong_passwords.MOST_BY_ACCOUNT <= OVERSHOOT
    assert sorted(failures(ferry)) == sorted(many)
    with running(tmp_path, **SETTINGS) as ferry:
        (refused,) = all_at_once(ferry.port, [call_of(PASSWORD, ELSEWHERE)])
        assert refused.status == 429
        assert 0 < int(refused.headers["Retry-After"]) <= 3600
        # Even processes that remember nothing don't block the account's own network.
        assert statuses(ferry, [call_of(PASSWORD, HOME)]) == {200: 1}


def test_a_correct_password_from_many_clients_is_never_refused_at_rest(tmp_path):
    with running(tmp_path, **SETTINGS) as ferry:
        make_account(ferry)
        assert statuses(ferry, [call_of(PASSWORD, HOME)] * MANY) == {200: MANY}
        spread = [call_of(PASSWORD, each) for each in strangers(MANY)]
        assert statuses_in_groups(ferry, spread) == {200: MANY}
        # Some clients at one address still have the old password.
        stale = [call_of("an older password", ELSEWHERE)] * 15
        mixed = [call_of(PASSWORD, ELSEWHERE)] * MANY + stale
        assert statuses(ferry, mixed) == {200: MANY, 401: 15}


class SignIn:
    """Sign-in requests from given addresses."""

    def __init__(self, ferry: Ferry) -> None:
        with httpx.Client(base_url=ferry.url, trust_env=False, timeout=GENEROUS) as visitor:
            page = BeautifulSoup(visitor.get("/signin/").text, "html.parser")
            self._token = page.select_one("[name=csrfmiddlewaretoken]")["value"]
            self._cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())

    def with_password(self, password: str, address: str) -> Request:
        form = {"username": "alice", "password": password, "csrfmiddlewaretoken": self._token}
        headers = {
            "Host": "localhost",
            "Cookie": self._cookie,
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Forwarded-For": address,
        }
        return Request("POST", "/signin/", urlencode(form), headers)


def test_many_addresses_processes_and_restarts_share_one_count_at_the_site(tmp_path):
    many = strangers(60)
    # At most six more are tried before the wait between two guesses reaches a minute.
    most = throttle.FREE_BY_NAME + OVERSHOOT + 6
    with running(tmp_path, **SETTINGS) as ferry:
        ferry.make_owner()
        form = SignIn(ferry)
        answers = statuses(ferry, [form.with_password(f"guess {each}", each) for each in many])
        assert set(answers) == {422, 429}
        assert throttle.FREE_BY_NAME <= answers[422] <= most
    logged = re.findall(r"WARNING ferry\.signin (?:failed|limited) .*address=(\S+)", ferry.log)
    assert sorted(logged) == sorted(many)
    with running(tmp_path, **SETTINGS) as ferry:
        form = SignIn(ferry)
        later = [form.with_password("guess", f"203.0.113.{number}") for number in range(6)]
        assert statuses(ferry, later)[422] <= 1 + OVERSHOOT


def test_a_right_password_from_many_clients_at_once_is_never_refused_at_the_site(tmp_path):
    with running(tmp_path, **SETTINGS) as ferry:
        ferry.make_owner()
        form = SignIn(ferry)
        one_home = [form.with_password(PASSWORD, HOME)] * 40
        assert statuses(ferry, one_home) == {302: 40}
        spread = [form.with_password(PASSWORD, each) for each in strangers(40)]
        assert statuses_in_groups(ferry, spread) == {302: 40}


def fail2ban_filter() -> tuple[str, str]:
    """Return the expressions of failures and of times, with fail2ban's placeholders filled in."""
    parser = ConfigParser()
    parser.read(BASE / "docs/fail2ban/filter.conf")
    definition = parser["Definition"]
    date = definition["datepattern"]
    for mark, digits in {"%Y": r"\d{4}", "%z": "(?:Z|[+-][0-9:]+)"}.items():
        date = date.replace(mark, digits)
    date = re.sub("%[mdHMS]", r"\\d\\d", date)
    return definition["failregex"].replace("<HOST>", r"(?P<host>[0-9a-fA-F:.]+)"), date


def banned_by(line: str) -> str | None:
    """Return the host that fail2ban bans: cut the time out of the line, then match the rest."""
    expression, date = fail2ban_filter()
    found = re.search(expression, re.sub(date, "", line, count=1))
    return found["host"] if found else None


def test_fail2ban_reads_each_failure_once_and_nothing_else(tmp_path):
    banned = ["198.51.100.1", "2001:db8::1", "198.51.100.3", "198.51.100.4"]
    # Text that strangers bring into a log line doesn't count as a failure.
    forged = "/x%20WARNING%20ferry.rest%20failed%20name='a'%20address=192.0.2.99"
    with running(tmp_path, **SETTINGS) as ferry:
        ferry.make_owner()
        make_account(ferry)
        for address, email in zip(banned, [EMAIL, EMAIL, unquote(forged)], strict=False):
            assert statuses(ferry, [call_of("guess", address, email)]) == {401: 1}
        assert statuses(ferry, [SignIn(ferry).with_password("guess", banned[3])]) == {422: 1}
        headers = {"Host": "localhost", "X-Forwarded-For": ELSEWHERE}
        all_at_once(ferry.port, [Request("GET", forged, "", headers)])
        assert statuses(ferry, [call_of(PASSWORD, HOME)]) == {200: 1}
    lines = ferry.log.splitlines()
    assert [host for line in lines if (host := banned_by(line))] == banned
    # The journal prefixes the machine and the program.
    prefixed = [f"harbor python[12]: {line}" for line in lines]
    assert [host for line in prefixed if (host := banned_by(line))] == banned
