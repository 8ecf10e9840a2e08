"""qBittorrent's Web API, with the calls of the programs that people use most."""

import json
from datetime import timedelta
from pathlib import Path
from time import thread_time

import pytest
from django.test import override_settings
from django.utils import timezone

from tests.cases import each_case
from tests.webui.add.test_views import TORRENT, magnet
from tests.webui.programs.clients import QBClient, bounded, by_basic, by_bearer, make_token
from webui.connection import connection
from webui.deleting import held_deletes
from webui.library.bounds import Bounds
from webui.models import Category, Sent
from webui.programs.views.qbittorrent import READING, WRITING
from webui.transfers import poll

pytestmark = pytest.mark.django_db
HASH = f"{1:040x}"


def look(service):
    """Let the site look at the service again, as if time had passed."""
    poll.store().change(service.service.key)


# Sonarr, Radarr, and Prowlarr


def test_sonarr_tests_its_settings(service, token):
    """They call this when somebody selects Test."""
    sonarr = by_basic(token)
    assert sonarr.get("app/webapiVersion").text == "2.9.3"
    assert sonarr.get("app/version").text == "v4.6.7"
    wanted = sonarr.get("app/preferences").json
    assert wanted["dht"] is True
    assert wanted["queueing_enabled"] is True
    assert not any(wanted[f"max_{name}_enabled"] for name in ("ratio", "seeding_time"))
    assert wanted["max_ratio_act"] == 0
    assert sonarr.get("torrents/categories").json == {}
    assert sonarr.post("torrents/createCategory", category="tv").text == ""
    path = f"{wanted['save_path']}/tv"
    assert sonarr.get("torrents/categories").json == {"tv": {"name": "tv", "savePath": path}}
    assert sonarr.post("torrents/createCategory", category="tv").status == 409
    assert sonarr.rows(category="tv") == []


def test_sonarr_adds_a_magnet_and_finds_it_at_once(service, sonarr):
    added = sonarr.post("torrents/add", urls=magnet(1), category="tv", paused="false")
    assert (added.status, added.text) == (200, "Ok.")
    assert added.headers["Content-Type"].startswith("text/plain")
    properties = sonarr.get("torrents/properties", hash=HASH.upper())
    assert properties.status == 200
    assert properties.json["hash"] == HASH
    (row,) = sonarr.rows(category="tv")
    assert (row["hash"], row["category"], row["name"]) == (HASH, "tv", "Sintel")
    assert row["content_path"] == f"{row['save_path']}/Sintel"
    assert row["progress"] < 1
    assert sonarr.rows(category="films") == []


def test_sonarr_adds_a_file_before_it_names_the_category(service, sonarr):
    assert sonarr.post_file("torrents/add", TORRENT, category="tv").text == "Ok."
    (row,) = sonarr.rows(category="tv")
    assert row["name"] == "a.mkv"
    assert Sent.objects.get().info_hash == row["hash"]


def test_a_torrent_that_is_there_is_fine_and_keeps_its_category(service, sonarr):
    for category in ("tv", "films"):
        assert sonarr.post("torrents/add", urls=magnet(1), category=category).text == "Ok."
    assert [row["category"] for row in sonarr.rows()] == ["tv"]
    assert len(service.fake.transfers) == 1


@each_case("urls", ["", "no link", f"{magnet(1)}\nno link", "ftp://example.org/a", "magnet:?dn=a"])
def test_nothing_is_lost_without_a_word(storage, sonarr, urls):
    assert sonarr.post("torrents/add", urls=urls).text == "Fails."


def test_a_service_that_is_away_fails(storage, sonarr):
    storage.fails("/rest/transfer/magnet", 503)
    assert sonarr.post("torrents/add", urls=magnet(1), category="tv").text == "Fails."


@each_case(
    "facts, state",
    [
        ({"state": "queued"}, "queuedDL"),
        ({"state": "metadata"}, "metaDL"),
        ({"state": "downloading", "progress": 5}, "downloading"),
        ({"state": "stalled"}, "stalledDL"),
        ({"state": "moving", "progress": 100}, "moving"),
        ({"state": "no_room"}, "error"),
        ({"state": "failed", "reason": "no_peers"}, "error"),
        ({"state": "stopped"}, "pausedDL"),
    ],
)
def test_each_state_has_its_word(storage, sonarr, facts, state):
    storage.renew()
    storage.transfer("Sintel", hash=HASH, size=1000, **facts)
    row = sonarr.row(HASH)
    assert row["state"] == state
    assert row["progress"] < 1
    assert row["amount_left"] > 0


def finish(service, sonarr, category="tv"):
    """Let the service fetch Sintel."""
    sonarr.post("torrents/add", urls=magnet(1), category=category)
    (one,) = service.fake.transfers.values()
    folder = service.folder("Sintel", one.folder)
    service.file("Sintel.mkv", b"a film", parent=folder.id)
    state = "done" if service.service.is_embedded else None
    service.tells(one, progress=101, folder_created=folder.id, size=6, state=state)
    look(service)
    return one


def test_nothing_is_complete_before_it_is_handed_over(service, sonarr, handover):
    finish(service, sonarr)
    row = sonarr.row(HASH)
    assert (row["state"], row["progress"] < 1, row["amount_left"] > 0) == ("moving", True, True)
    row = Sent.objects.get()
    Sent.objects.update(handed_path="tv/Sintel", handed_at=row.added_at)
    row = sonarr.row(HASH)
    assert (row["state"], row["progress"], row["amount_left"]) == ("pausedUP", 1, 0)
    assert row["content_path"] == f"{handover}/tv/Sintel"
    assert row["save_path"] == f"{handover}/tv"
    # By these, programs know that they may remove it.
    assert (row["ratio_limit"], row["ratio"]) == (0, 0)


def test_trouble_of_the_handover_is_an_error(storage, sonarr, handover):
    finish(storage, sonarr)
    Sent.objects.update(handover_trouble="no_space")
    row = sonarr.row(HASH)
    assert (row["state"], row["comment"], row["progress"] < 1) == ("error", "no_space", True)


def test_without_a_handover_folder_no_program_finds_the_files(service, sonarr):
    finish(service, sonarr)
    row = sonarr.row(HASH)
    assert (row["state"], row["comment"]) == ("missingFiles", "no_handover_folder")
    assert (row["progress"] < 1, row["amount_left"] > 0) == (True, True)
    assert sonarr.rows(filter="errored") == [row]
    assert sonarr.rows(filter="completed") == []
    # Programs tell people that they can't find this folder.
    assert row["content_path"] == "/HANDOVER_DIR-is-not-set/tv/Sintel"


def test_a_copy_is_of_no_use_once_the_folder_is_not_set(service, sonarr):
    finish(service, sonarr)
    Sent.objects.update(handed_path="tv/Sintel", handed_at="2026-09-01T00:00Z")
    assert sonarr.row(HASH)["state"] == "missingFiles"


@each_case("has_folder", [False, True])
def test_what_no_program_waits_for_is_complete_in_ferry(storage, sonarr, has_folder, tmp_path):
    """Widgets count it as complete, and no program looks for its files."""
    storage.renew()
    storage.transfer("Sintel", hash=HASH, size=6, state="done", progress=100)
    with override_settings(HANDOVER_DIR=tmp_path if has_folder else None):
        row = sonarr.row(HASH)
    assert (row["state"], row["progress"], row["content_path"]) == ("pausedUP", 1, "")


def test_a_phone_needs_no_handover_folder(service, sonarr):
    finish(service, sonarr, category="")
    row = sonarr.row(HASH)
    assert (row["state"], row["progress"], row["content_path"]) == ("pausedUP", 1, "")


def test_sonarr_removes_what_it_imported(service, sonarr, handover):
    finish(service, sonarr)
    copy = handover / "tv" / "Sintel"
    copy.mkdir(parents=True)
    (copy / "Sintel.mkv").write_bytes(b"a film")
    Sent.objects.update(handed_path="tv/Sintel", handed_at="2026-09-01T00:00Z")
    assert sonarr.get("torrents/files", hash=HASH).json[0]["name"] == "Sintel/Sintel.mkv"
    removed = sonarr.post("torrents/delete", hashes=HASH, deleteFiles="true")
    assert (removed.status, removed.text) == (200, "")
    assert not copy.exists()
    assert sonarr.rows() == []
    assert sonarr.get("torrents/properties", hash=HASH).status == 404
    assert names_of_files(service) == []


def test_what_sonarr_deletes_can_be_restored(storage, sonarr):
    finish(storage, sonarr)
    sonarr.post("torrents/delete", hashes=HASH, deleteFiles="true")
    (item,) = storage.service.v1.deleted_items().items
    assert item.name == "Sintel"
    storage.service.v1.restore({"ids": item.id})
    assert names_of_files(storage) == ["Sintel.mkv"]


def test_files_stay_unless_a_program_deletes_them(service, sonarr, handover):
    finish(service, sonarr)
    (handover / "tv").mkdir()
    copy = handover / "tv" / "Sintel.mkv"
    copy.write_bytes(b"a film")
    Sent.objects.update(handed_path="tv/Sintel.mkv", handed_at="2026-09-01T00:00Z")
    sonarr.post("torrents/delete", hashes=HASH, deleteFiles="false")
    assert sonarr.rows() == []
    assert copy.read_bytes() == b"a film"
    assert names_of_files(service) == ["Sintel.mkv"]


def test_what_people_moved_is_theirs(service, sonarr):
    finish(service, sonarr)
    sonarr.rows()
    folder = next(each for each in service.fake.items.values() if each.name == "Sintel")
    folder.parent = service.folder("Best").id
    sonarr.post("torrents/delete", hashes=HASH, deleteFiles="true")
    assert names_of_files(service) == ["Sintel.mkv"]


def test_if_the_service_is_away_nothing_is_deleted(storage, sonarr, handover):
    finish(storage, sonarr)
    (handover / "tv" / "Sintel").mkdir(parents=True)
    Sent.objects.update(handed_path="tv/Sintel", handed_at="2026-09-01T00:00Z")
    sonarr.rows()
    storage.fails("/rest/deleted", 503)
    assert sonarr.post("torrents/delete", hashes=HASH, deleteFiles="true").status == 503
    assert sonarr.row(HASH)["state"] == "pausedUP"
    assert (handover / "tv" / "Sintel").exists()


def names_of_files(service):
    """Return the names of what is left once all held deletions have happened."""
    held_deletes.delete_due(timezone.now() + timedelta(minutes=1))
    return [each.name for each in service.fake.items.values() if each.content]


def test_what_people_clear_stays_for_programs(service, sonarr, handover, bob):
    finish(service, sonarr)
    sonarr.rows()
    assert bob.client.post("/transfers/clear/").status_code == 302
    look(service)
    row = sonarr.row(HASH)
    assert (row["state"], row["category"], row["size"] >= 0) == ("moving", "tv", True)
    Sent.objects.update(handed_path="tv/Sintel", handed_at="2026-09-01T00:00Z")
    assert sonarr.row(HASH)["state"] == "pausedUP"
    sonarr.post("torrents/delete", hashes=HASH)
    assert sonarr.rows() == []


def test_what_was_removed_can_be_added_again(service, sonarr, handover):
    finish(service, sonarr)
    Sent.objects.update(handed_path="tv/Sintel", handed_at="2026-09-01T00:00Z")
    sonarr.post("torrents/delete", hashes=HASH, deleteFiles="true")
    assert sonarr.post("torrents/add", urls=magnet(1), category="tv").text == "Ok."
    assert sonarr.row(HASH)["state"] != "pausedUP"


def test_a_copy_that_was_moved_away_is_made_again(service, sonarr, handover):
    finish(service, sonarr)
    Sent.objects.update(handed_path="tv/gone", handed_at="2026-09-01T00:00Z")
    assert sonarr.post("torrents/add", urls=magnet(1), category="tv").text == "Ok."
    assert sonarr.row(HASH)["state"] == "moving"


# Phones


def test_a_phone_follows_the_list_by_its_changes(storage, sonarr):
    one = storage.transfer("Sintel", hash=HASH, size=1000, state="downloading", progress=5)
    whole = sonarr.get("sync/maindata", rid="0").json
    assert whole["full_update"] is True
    assert whole["torrents"][HASH]["state"] == "downloading"
    assert "use_alt_speed_limits" in whole["server_state"]
    same = sonarr.get("sync/maindata", rid=str(whole["rid"])).json
    assert same.keys() == {"rid", "server_state"}
    storage.transfer("Tears", hash=f"{2:040x}", size=1000, state="queued")
    look(storage)
    more = sonarr.get("sync/maindata", rid=str(whole["rid"])).json
    assert list(more["torrents"]) == [f"{2:040x}"]
    assert "full_update" not in more
    storage.forgets(one)
    sonarr.post("torrents/delete", hashes=HASH)
    fewer = sonarr.get("sync/maindata", rid=str(more["rid"])).json
    assert fewer["torrents_removed"] == [HASH]
    sonarr.post("torrents/createCategory", category="tv")
    assert sonarr.get("sync/maindata", rid=str(fewer["rid"])).json["full_update"] is True


def test_a_number_of_someone_else_brings_the_whole_list(storage, sonarr, bob):
    storage.transfer("Sintel", hash=HASH)
    rid = sonarr.get("sync/maindata").json["rid"]
    other = by_bearer(make_token(bob.user))
    assert other.get("sync/maindata", rid=str(rid)).json["full_update"] is True


def test_transdroid_reads_lists_by_post(storage, sonarr):
    storage.transfer("Sintel", hash=HASH, size=1000)
    (row,) = sonarr.post("torrents/info", filter="all").json
    assert {"num_leechs", "num_seeds", "num_complete", "num_incomplete"} <= row.keys()
    assert {"dlspeed", "upspeed", "uploaded", "added_on"} <= row.keys()


@each_case("part", ["torrents", "fileselect", "torrent_1"])
def test_extensions_name_the_part_of_a_file_as_they_like(storage, sonarr, part):
    storage.renew()
    assert sonarr.post_file("torrents/add", TORRENT, part).text == "Ok."
    assert [each.title for each in storage.fake.transfers.values()] == ["a.mkv"]


# Widgets


def test_homepage_signs_in_only_when_it_must(storage, token):
    storage.transfer("Sintel", hash=HASH)
    homepage = by_bearer("")
    assert homepage.get("torrents/info").status == 403
    signed_in = homepage.sign_in(token)
    assert (signed_in.status, signed_in.text) == (200, "Ok.")
    cookie = signed_in.headers["Set-Cookie"]
    assert cookie.startswith("SID=")
    assert "HttpOnly; SameSite=Strict" in cookie
    (row,) = homepage.get("torrents/info").json
    assert {"progress", "dlspeed", "upspeed", "state"} <= row.keys()


# What a service can do


@each_case("act", ["pause", "stop", "resume", "start", "topPrio", "bottomPrio"])
def test_our_own_service_does_it(storage, sonarr, act):
    storage.transfer("Sintel", hash=HASH, state="downloading")
    assert sonarr.post(f"torrents/{act}", hashes=HASH).status == 200
    assert ("POST", "/rest/transfers/change") in storage.calls


@each_case("act, status", [("pause", 409), ("topPrio", 409), ("resume", 200), ("recheck", 200)])
def test_a_foreign_service_is_not_asked_for_what_it_cannot(foreign, sonarr, act, status):
    foreign.transfer("Sintel", hash=HASH)
    assert sonarr.post(f"torrents/{act}", hashes=HASH).status == status


def test_tags_are_added_and_removed(service, sonarr):
    sonarr.post("torrents/add", urls=magnet(1), tags="a, b")
    assert sonarr.rows(tag="a")[0]["tags"] == "a, b"
    sonarr.post("torrents/addTags", hashes=HASH, tags="c,a")
    sonarr.post("torrents/removeTags", hashes=HASH, tags="b")
    assert sonarr.get("torrents/tags").json == ["a", "c"]
    sonarr.post("torrents/deleteTags", tags="a")
    assert sonarr.row(HASH)["tags"] == "c"
    assert sonarr.rows(tag="a") == []


def test_what_people_added_can_get_a_category(service, sonarr):
    service.transfer("Sintel", hash=HASH)
    assert sonarr.row(HASH)["category"] == ""
    sonarr.post("torrents/setCategory", hashes=HASH, category="tv")
    assert sonarr.row(HASH)["category"] == "tv"
    sonarr.post("torrents/removeCategories", categories="tv")
    assert sonarr.row(HASH)["category"] == ""
    assert not Category.objects.exists()


def test_polls_cost_the_service_nothing(service, sonarr):
    service.transfer("Sintel", hash=HASH)
    sonarr.rows()
    calls = len(service.calls)
    for path in ("torrents/info", "transfer/info", "torrents/categories", "app/preferences"):
        assert sonarr.get(path).status == 200
    assert len(service.calls) == calls


def test_a_category_has_a_folder_where_the_service_takes_one(storage, sonarr):
    sonarr.post("torrents/add", urls=magnet(1), category="tv")
    (one,) = storage.fake.transfers.values()
    assert storage.fake.items[one.folder].name == "tv"


KINDS = {bool: "flag", int: "number", float: "number", str: "text"}
# What qBittorrent 4.5.2 itself sends: the names and kinds of its fields.
RECORDED = json.loads(Path(__file__).with_name("qbittorrent-4.5.2.json").read_text())


def test_records_have_all_fields_of_qbittorrent_in_their_kinds(storage, sonarr):
    """Programs in languages with types fail without any of them."""
    storage.transfer("Sintel", hash=HASH, size=1000, state="downloading", progress=5)
    heard = {path: sonarr.get(path, hash=HASH).json for path in RECORDED if path != "server_state"}
    heard["torrents/info"] = heard["torrents/info"][0]
    heard["server_state"] = sonarr.get("sync/maindata").json["server_state"]
    for path, fields in RECORDED.items():
        assert {name: KINDS[type(heard[path][name])] for name in fields} == fields, path


# Hostile and wrong


@each_case("path", ["app/version", "torrents/info", "torrents/add", "no/such", "app/shutdown"])
def test_strangers_get_403_and_never_401(storage, path):
    stranger = by_bearer("")
    assert stranger.get(path).status == 403
    assert stranger.post(path, urls=magnet(1)).status == 403
    assert storage.calls == []


def test_a_wrong_password_fails_in_words_and_then_waits(db, storage):
    stranger = by_bearer("")
    heard = [stranger.sign_in("ferry_guess") for _try in range(25)]
    assert (heard[0].status, heard[0].text) == (200, "Fails.")
    assert heard[-1].status == 403
    assert "Retry-After" in heard[-1].headers
    assert all("Set-Cookie" not in each.headers for each in heard)


def test_over_https_the_cookie_keeps_its_name(storage, token, settings):
    """Programs look for the name, while Ferry's other cookies get another one there."""
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    program = QBClient({"x-forwarded-proto": "https"})
    cookie = program.sign_in(token).headers["Set-Cookie"]
    assert cookie.startswith("SID=")
    assert cookie.endswith("; Secure")
    assert program.get("app/version").status == 200


def test_a_revoked_token_ends_its_sessions(storage, token, bob):
    program = by_bearer("")
    program.sign_in(token)
    assert program.get("app/version").status == 200
    bob.user.token_set.all().delete()
    assert program.get("app/version").status == 403


def test_the_site_and_this_door_have_different_sessions(storage, bob, token):
    program = by_bearer("")
    program.sign_in(token)
    cookie = program.headers["cookie"].partition("=")[2]
    path = bob.client.get("/account/").wsgi_request.session.session_key
    program.headers["cookie"] = f"SID={path}"
    assert program.get("app/version").status == 403
    assert len(cookie) > 20


@each_case("purpose", ["send", "drive"])
def test_tokens_for_something_else_open_nothing(storage, bob, purpose):
    other = make_token(bob.user, purpose=purpose)
    assert by_bearer(other).get("app/version").status == 403
    assert by_bearer("").sign_in(other).text == "Fails."


def test_a_token_that_only_reads_changes_nothing(storage, bob):
    reader = by_bearer(make_token(bob.user, may_write=False))
    assert reader.get("torrents/info").status == 200
    assert reader.post("torrents/add", urls=magnet(1)).status == 403
    assert storage.fake.transfers == {}


def test_guests_have_no_programs(storage, gwen):
    assert by_bearer(make_token(gwen.user)).get("torrents/info").status == 403


@each_case("path", ["setDownloadLimit", "setUploadLimit", "toggleSpeedLimitsMode"])
def test_only_owners_change_what_is_for_everyone(own_service, bob, alice, path):
    member, owner = by_bearer(make_token(bob.user)), by_bearer(make_token(alice.user))
    assert member.post(f"transfer/{path}", limit="1000").status == 403
    assert owner.post(f"transfer/{path}", limit="1000").status == 200
    assert member.get("transfer/downloadLimit").status == 200


def test_owners_change_nothing_for_everyone_by_a_folder(own_service, alice):
    limits = {"service": connection.service().key, "bounds": Bounds("7", "TV")}
    owner = by_bearer(make_token(alice.user, **limits))
    assert owner.post("transfer/setDownloadLimit", limit="1000").status == 403


def test_limits_are_those_of_the_service(own_service, alice):
    owner = by_bearer(make_token(alice.user))
    state = owner.get("sync/maindata").json["server_state"]
    assert (state["dl_rate_limit"], state["use_alt_speed_limits"]) == (0, False)
    owner.post("transfer/setDownloadLimit", limit="1000")
    owner.post("transfer/toggleSpeedLimitsMode")
    state = owner.get("sync/maindata").json["server_state"]
    assert (state["dl_rate_limit"], state["use_alt_speed_limits"]) == (1000, True)
    assert owner.get("transfer/speedLimitsMode").text == "1"
    assert owner.get("transfer/downloadLimit").text == "1000"


def test_a_torrent_has_limits_of_its_own(own_service, sonarr):
    sonarr.post("torrents/add", urls=magnet(1), upLimit="7")
    sonarr.post("torrents/setDownloadLimit", hashes=HASH, limit="2000")
    assert sonarr.get("torrents/downloadLimit", hashes=HASH).json == {HASH: 2000}
    assert sonarr.get("torrents/uploadLimit", hashes=HASH).json == {HASH: 7}
    one = sonarr.get("torrents/properties", hash=HASH).json
    assert (one["dl_limit"], one["up_limit"]) == (2000, 7)


def test_changes_are_not_made_by_reading(storage, sonarr):
    storage.transfer("Sintel", hash=HASH)
    assert sonarr.get("torrents/delete", hashes="all").status == 405
    assert len(sonarr.rows()) == 1


def test_other_sites_cannot_use_the_cookie(storage, token):
    program = by_bearer("")
    program.sign_in(token)
    program.headers["origin"] = "https://elsewhere.example"
    assert program.post("torrents/add", urls=magnet(1)).status == 403
    program.headers["origin"] = "http://localhost"
    assert program.post("torrents/add", urls=magnet(1)).status == 200


def test_a_token_of_a_folder_sees_and_adds_only_there(storage, bob):
    tv, other = storage.folder("TV"), storage.folder("Other")
    storage.service.v1.listing()  # The client finds out that the service takes folders.
    every, few = by_bearer(make_token(bob.user)), by_bearer("")
    few.sign_in(make_token(bob.user, **limits_of(storage, tv)))
    every.post("torrents/add", urls=magnet(1, "Elsewhere"))
    few.post("torrents/add", urls=magnet(2, "Within"), category="new")
    assert [row["name"] for row in few.rows()] == ["Within"]
    assert {row["name"] for row in every.rows()} == {"Elsewhere", "Within"}
    (one,) = [each for each in storage.fake.transfers.values() if each.title == "Within"]
    assert storage.fake.items[one.folder].parent == tv.id
    few.post("torrents/delete", hashes="all")
    assert [row["name"] for row in every.rows()] == ["Elsewhere"]
    assert other.id in storage.fake.items


def limits_of(storage, folder):
    return bounded(storage.service.key, folder.id)


@pytest.fixture
def limited(storage, bob):
    """Return a program that sees the folder TV, beside one that sees everything."""
    tv = storage.folder("TV")
    storage.service.v1.listing()  # The client finds out that the service takes folders.
    return by_bearer(make_token(bob.user, **limits_of(storage, tv)))


def test_no_answer_shows_more_than_the_folder(storage, sonarr, limited):
    """Each reading call, while everything outside has a name to look for."""
    form = {"urls": magnet(7, "Secret film"), "category": "secret", "tags": "secret"}
    sonarr.post("torrents/add", **form)
    (one,) = storage.fake.transfers.values()
    storage.tells(one, state="downloading", download_rate=9_999, size=777_777, progress=50)
    limited.post("torrents/add", urls=magnet(2, "Within"), category="new")
    look(storage)
    assert "Secret film" in sonarr.get("torrents/info").text
    for path in READING:
        for query in ({}, {"hash": f"{7:040x}", "hashes": f"{7:040x}"}, {"hashes": "all"}):
            heard = limited.get(path, **query).text.lower()
            assert not [word for word in ("secret", "9999", f"{7:040x}") if word in heard], path
    assert list(limited.get("torrents/categories").json) == ["new"]
    assert limited.get("sync/maindata").json["server_state"]["free_space_on_disk"] == 0


def test_no_call_changes_more_than_the_folder(storage, sonarr, limited):
    sonarr.post("torrents/add", urls=magnet(7, "Secret film"), category="secret", tags="secret")
    before = sonarr.row(f"{7:040x}")
    for path in WRITING:
        for hashes in ("all", f"{7:040x}"):
            form = {"hashes": hashes, "hash": f"{7:040x}", "deleteFiles": "true", "tags": "secret"}
            limited.post(path, **form, categories="secret", category="other", id="0", limit="1")
    assert sonarr.row(f"{7:040x}") == before
    assert "secret" in sonarr.get("torrents/categories").json
    assert [each.title for each in storage.fake.transfers.values()] == ["Secret film"]


def test_what_went_to_the_root_is_outside_the_folder(storage, limited):
    """Its folder was deleted while it was fetched, and then restored."""
    limited.post("torrents/add", urls=magnet(2, "Within"))
    (one,) = storage.fake.transfers.values()
    folder = storage.folder("Within")
    storage.tells(one, state="done", progress=101, folder_created=folder.id, reason="folder_gone")
    look(storage)
    assert limited.rows() == []
    limited.post("torrents/delete", hashes=f"{2:040x}", deleteFiles="true")
    assert folder.id in storage.fake.items


@pytest.mark.parametrize("category", ["films", ""])
def test_what_is_elsewhere_already_stays_there(storage, sonarr, limited, category):
    sonarr.post("torrents/add", urls=magnet(7), category=category)
    assert limited.post("torrents/add", urls=magnet(7), category="tv").status == 409
    assert limited.rows() == []
    assert [row["category"] for row in sonarr.rows()] == [category]


def test_what_the_site_did_not_add_is_elsewhere_too(storage, sonarr, limited):
    for number in (7, 8):
        storage.transfer("Sintel", hash=f"{number:040x}")
    links = f"{magnet(7)}\n{magnet(8)}\n{magnet(9)}\n{magnet(9)}"
    for _try in range(2):
        assert limited.post("torrents/add", urls=links, category="tv").status == 409
    assert [row["hash"] for row in limited.rows()] == [f"{9:040x}"]
    assert sorted(row["category"] for row in sonarr.rows()) == ["", "", "tv"]


def test_a_limited_token_tests_its_settings_as_sonarr_does(storage, sonarr, limited):
    sonarr.post("torrents/createCategory", category="tv")
    assert limited.get("torrents/categories").json == {}
    assert limited.post("torrents/createCategory", category="tv").status == 200
    assert list(limited.get("torrents/categories").json) == ["tv"]
    assert limited.post("torrents/createCategory", category="tv").status == 409
    limited.post("torrents/removeCategories", categories="tv")
    assert list(sonarr.get("torrents/categories").json) == ["tv"]


def test_a_service_that_takes_no_folder_is_not_for_such_tokens(foreign, bob):
    tv = foreign.folder("TV")
    limited = by_bearer(make_token(bob.user, **limits_of(foreign, tv)))
    assert limited.post("torrents/add", urls=magnet(1)).status == 403
    assert foreign.fake.transfers == {}


@each_case("name", ["", "/tv", "tv/", "a//b", "a\\b", "x" * 101, "a\nb", "a\x00b"])
def test_names_that_are_no_categories_are_refused(storage, sonarr, name):
    assert sonarr.post("torrents/createCategory", category=name).status == (409 if name else 400)
    assert sonarr.post("torrents/add", urls=magnet(1), category=name).status == (
        409 if name else 200
    )


@each_case("name", ["..", "../../etc", "a/../..", ".hidden", "con", "~", "a/..\u2044b"])
def test_no_category_leads_out_of_the_folder(storage, sonarr, handover, name):
    sonarr.post("torrents/createCategory", category=name)
    path = sonarr.get("torrents/categories").json[name]["savePath"]
    assert path.startswith(f"{handover}/")
    assert ".." not in path.split("/")


@each_case(
    "body, kind",
    [
        (b"\xff\xfe&=&&&%zz", "application/x-www-form-urlencoded"),
        (b"&" * 1000, "application/x-www-form-urlencoded"),
        (b"no parts", "multipart/form-data; boundary=X"),
        (b"--X\r\n", "multipart/form-data"),
        (b"{", "application/json"),
    ],
)
def test_bodies_that_make_no_sense_add_nothing(storage, sonarr, body, kind):
    heard = sonarr.send("POST", "torrents/add", body, kind)
    assert heard.status in (400, 413) or heard.text == "Fails."
    assert storage.fake.transfers == {}


@each_case("name", ["limit", "offset", "rid"])
def test_numbers_that_make_no_sense_are_ignored(storage, sonarr, name):
    for value in ("x", "-", "9" * 40, "²", "-5"):
        assert sonarr.get("torrents/info", **{name: value}).status == 200
        assert sonarr.get("sync/maindata", **{name: value}).status == 200


def test_every_answer_is_json_or_text(storage, sonarr):
    heard = sonarr.get("torrents/info")
    assert heard.headers["Content-Type"] == "application/json"
    assert json.loads(heard.text) == []


def test_a_list_of_2000_is_cheap(storage, sonarr, handover, django_assert_max_num_queries):
    """Programs ask every few seconds. qBittorrent itself takes several times as long."""
    rows = []
    for number in range(1, 2001):
        one = storage.transfer(f"Film {number}", hash=f"{number:040x}", size=10**9)
        rows.append(Sent(connection=storage.service.key, transfer_id=f"{one.id}", category="tv"))
        rows[-1].added_at = timezone.now()
    Sent.objects.bulk_create(rows)
    sonarr.rows()
    with django_assert_max_num_queries(5):
        before = thread_time()
        assert len(sonarr.rows(category="tv")) == 2000
        assert thread_time() - before < 0.3
