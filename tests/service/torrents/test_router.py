"""What the engine reports of a router in front of it, and of a peer beyond the router."""

import json
import subprocess
import sys
import time

import pytest

from tests.running import BASE
from tests.tools import needs, program

pytestmark = pytest.mark.slow


@pytest.mark.promise("a router's answer is known", cases=["accept-mapped"])
@pytest.mark.parametrize(("answer", "mapping"), [("accept", "mapped"), ("refuse", "failed")])
def test_the_routers_answer_and_a_peer_beyond_it_are_seen(tmp_path, answer, mapping):
    needs([program("unshare"), "--net", program("ip"), "link", "add", "type", "veth"], "veth")
    script = ["-m", "tests.service.torrents.router", "machine", answer, str(tmp_path)]
    command = [program("unshare"), "--net", sys.executable, *script]
    ran = subprocess.run(command, cwd=BASE, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    session = json.loads(ran.stdout)
    assert (session["port"], session["mapping"], session["is_reachable"]) == (6881, mapping, True)
    assert 0 <= time.time() - session["incoming_at"] < 180
