"""Clients that others have written, unchanged, against a Ferry that runs."""

import subprocess

import pytest
import qbittorrentapi
import transmission_rpc

from tests.running import Ferry
from tests.tools import program
from tests.webui.add.test_views import magnet

PLACE = "/transmission/rpc"


@pytest.fixture(scope="module")
def token(ferry: Ferry) -> str:
    return ferry.manage("token", "add", "alice", "--for", "programs").strip()


@pytest.mark.promise("a library for qBittorrent works with Ferry")
def test_qbittorrent_api(ferry: Ferry, token: str):
    info_hash = f"{0x51:040x}"
    client = qbittorrentapi.Client(ferry.url, username="any", password=token)
    client.auth_log_in()
    assert (client.app.version, client.app.web_api_version) == ("v4.6.7", "2.9.3")
    client.torrents_create_category("tv")
    added = client.torrents_add(urls=magnet(0x51), category="tv", tags="a", is_paused=True)
    assert added == "Ok."
    (one,) = client.torrents_info(category="tv")
    assert (one.hash, one.tags, one.save_path) == (info_hash, "a", one.save_path)
    assert client.torrents_properties(info_hash).save_path == one.save_path
    one.set_download_limit(1000)
    assert client.torrents_download_limit(info_hash) == {info_hash: 1000}
    one.add_tags(["b"])
    assert client.torrents_tags() == ["a", "b"]
    for act in (one.resume, one.pause, one.recheck, one.reannounce, one.top_priority):
        act()
    assert client.torrents_files(info_hash) == client.torrents_trackers(info_hash) == []
    whole = client.sync_maindata()
    assert info_hash in whole.torrents
    assert whole.server_state.use_alt_speed_limits is False
    assert client.transfer_info().connection_status == "connected"
    client.torrents_delete(delete_files=True, torrent_hashes=info_hash)
    assert client.torrents_info(category="tv") == []
    client.torrents_remove_categories("tv")
    client.auth_log_out()


@pytest.mark.promise("a library for Transmission works with Ferry")
def test_transmission_rpc(ferry: Ferry, token: str):
    client = transmission_rpc.Client(port=ferry.port, path=PLACE, username="any", password=token)
    assert client.get_session().rpc_version == 17
    one = client.add_torrent(magnet(0x52), labels=["tv"], paused=True)
    assert client.get_torrent(one.hash_string).labels == ["tv"]
    client.change_torrent(one.hash_string, labels=["tv", "hd"])
    (one,) = client.get_torrents([one.hash_string])
    assert (one.labels, one.percent_done, one.status) == (["tv", "hd"], 0, "stopped")
    client.start_torrent(one.id)
    client.stop_torrent(one.id)
    client.queue_top(one.id)
    assert client.session_stats().torrent_count >= 1
    assert client.free_space("/") > 0
    client.remove_torrent(one.id, delete_data=True)
    assert not [each for each in client.get_torrents() if each.hash_string == one.hash_string]


@pytest.mark.promise("transmission-remote works with Ferry")
def test_transmission_remote(ferry: Ferry, token: str):
    def remote(*arguments: str) -> str:
        command = [program("transmission-remote"), f"localhost:{ferry.port}", "--auth"]
        return run(*command, f"any:{token}", *arguments)

    info_hash = "a1" * 20  # It takes digits alone for a number.
    assert "success" in remote("--add", f"magnet:?xt=urn:btih:{info_hash}&dn=Tears")
    assert "Tears" in remote("--list")
    assert info_hash in remote("--torrent", info_hash, "--info")
    for act in ("--stop", "--start", "--verify", "--reannounce", "--files"):
        remote("--torrent", info_hash, act)
    assert "version: 4.0.6" in remote("--session-info")
    remote("--session-stats")
    assert "success" in remote("--torrent", info_hash, "--remove-and-delete")
    assert "Tears" not in remote("--list")


def run(*command: str) -> str:
    """Return what a program says, which must succeed."""
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout
