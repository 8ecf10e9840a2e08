"""The calls of programs, in their order. A real qBittorrent answers each with 200, too."""

import pytest

from tests.cases import each_case
from tests.webui.programs.clients import QBClient
from tests.webui.programs.tapes import TAPES

pytestmark = pytest.mark.django_db


@each_case("program", TAPES)
def test_programs_hear_what_qbittorrent_says(storage, sonarr: QBClient, token, program):
    storage.renew()
    for method, path, fields in TAPES[program]:
        form = {name: token if value == "TOKEN" else value for name, value in fields.items()}
        heard = sonarr.get(path, **form) if method == "GET" else sonarr.post(path, **form)
        assert heard.status == 200, (path, heard.text)
        assert heard.text != "Fails.", path
    assert sonarr.rows() == []
    assert sonarr.get("torrents/categories").json == {}
