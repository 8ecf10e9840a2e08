"""What only a real socket shows: memory use, and the responses to generated requests."""

import io

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

from service.api.operations import openapi
from tests.service.api.conftest import PASSWORD
from tests.service.api.serving import add_account, peak_bytes

pytestmark = pytest.mark.slow

MIB = 2**20
EMAIL = "dora@example.org"
OPERATIONS = {
    each.ok().label: each.ok()
    for each in schemathesis.openapi.from_dict(openapi()).get_all_operations()
}
FEW = settings(max_examples=40, suppress_health_check=list(HealthCheck))


class Ones(io.RawIOBase):
    """A file of ones, of any size, that takes no space."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self.at = offset + {0: 0, 1: self.at, 2: self.size_bytes}[whence]
        return self.at

    def tell(self) -> int:
        return self.at

    def read(self, size: int = -1) -> bytes:
        rest = self.size_bytes - self.at
        size = rest if size < 0 else min(size, rest)
        self.at += size
        return b"1" * size


@pytest.fixture(scope="module")
def served(ferry):
    add_account(ferry, EMAIL, PASSWORD)
    return ferry


@pytest.fixture
def dora(served):
    options = {"base_url": served.url, "auth": (EMAIL, PASSWORD), "timeout": 120}
    with httpx.Client(trust_env=False, **options) as client:
        yield client


def test_an_upload_of_256_mib_takes_no_memory(served, dora):
    dora.post("/rest/transfer/file", files={"file": ("small", b"content")})
    before = peak_bytes(served)
    answer = dora.post("/rest/transfer/file", files={"file": ("large", Ones(256 * MIB))})
    assert answer.status_code == 200
    assert peak_bytes(served) - before < 16 * MIB
    shown = dora.get(f"/rest/transfer/{answer.json()['id']}").json()
    assert shown["size"] == 256 * MIB
    assert dora.delete(f"/rest/file/{shown['file_created']}").status_code == 200


def test_an_upload_that_cannot_fit_is_answered_without_being_read(served, dora):
    """A client that keeps sending is stopped at once."""
    huge = Ones(2**40)
    answer = dora.post("/rest/transfer/file", files={"file": ("huge", huge)}, timeout=60)
    assert (answer.status_code, answer.json()["reason_phrase"]) == (413, "not_enough_space")
    assert huge.at < 64 * MIB


@pytest.mark.parametrize("name", OPERATIONS)
def test_nothing_that_is_sent_breaks_it(name, served):
    @FEW
    @given(case=OPERATIONS[name].as_strategy())
    def holds(case):
        answer = case.call(base_url=served.url, auth=(EMAIL, PASSWORD), timeout=30)
        assert answer.status_code < 500, case.as_curl_command()
        if answer.status_code >= 400 and case.method != "HEAD":
            assert answer.json()["code"] == answer.status_code

    holds()
