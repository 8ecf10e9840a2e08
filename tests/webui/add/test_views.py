"""Turning typed or dropped items into transfers, with an outcome for each."""

import json
from datetime import UTC, datetime
from urllib.parse import urlencode

import httpx
import pytest
from bs4 import BeautifulSoup
from django.test import Client

from tests.cases import each_case
from tests.people import page, words
from tests.webui.uploads.test_form import Untouchable, body_of, send
from webui.add import parse
from webui.add import send as add_send
from webui.add.pages.outcomes import MOST_SHOWN, refusal_words, results_panel
from webui.add.send import SendContext
from webui.models import Sent
from webui.v1.answers import KNOWN_WORDS
from webui.v1.errors import NoRoom, NotFound, Rejected

pytestmark = pytest.mark.django_db
SCRIPT = {"x-requested-with": "ferry"}
NOW = datetime(2026, 9, 1, tzinfo=UTC)


def magnet(number=1, name="Sintel"):
    return f"magnet:?xt=urn:btih:{number:040x}&dn={name}"


def typed(person, *lines, path="/transfers/send/", **fields):
    return person.client.post(path, {"text": "\n".join(lines), **fields})


def by_script(person, *lines, **fields):
    form = {"text": "\n".join(lines), **fields}
    return person.client.post("/transfers/send/", form, headers=SCRIPT)


def in_parts(person, **fields):
    """Send the form as multipart, like a browser; the test client would send it urlencoded."""
    body = body_of(fields=fields.items())
    return send(person.client, body, path="/transfers/send/", x_requested_with="ferry")


def outcomes(answer):
    return {item["name"]: item["outcome"] for item in answer.json()["items"]}


def field(answer):
    return page(answer).select_one("#omni").get_text().lstrip("\n")


def titles(storage):
    return [each.title for each in storage.fake.transfers.values()]


# Results


def test_each_line_gets_its_own_result(bob, storage):
    answer = by_script(bob, magnet(1), "https://a.example/x.iso", "nothing", magnet(2, "Cosmos"))
    assert outcomes(answer) == {
        "Sintel": "added",
        "x.iso": "added",
        "nothing": "unreadable",
        "Cosmos": "added",
    }
    assert titles(storage) == ["Sintel", "x.iso", "Cosmos"]
    assert answer.json()["kept"] == ["nothing"]


def test_an_existing_transfer_is_reported_with_a_link(bob, storage):
    by_script(bob, magnet(1))
    (item,) = by_script(bob, magnet(1)).json()["items"]
    assert item["outcome"] == "known"
    assert item["url"] == f"/transfers/t{next(iter(storage.fake.transfers))}/open/"
    assert len(titles(storage)) == 1


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("missing_files", "Someone deleted some of its files"),
        ("fetched_again", "fetching it again"),
    ],
)
def test_a_repeated_fetch_is_added_and_says_so(bob, storage, reason, said):
    one = storage.transfer("Sintel", hash=f"{1:040x}")
    storage.tells(one, reason=reason)
    (item,) = by_script(bob, magnet(1)).json()["items"]
    assert item["outcome"] == "added"
    assert said in item["sentence"]


def test_a_link_without_a_name_takes_the_one_that_the_service_knows(bob, storage):
    bare = f"magnet:?xt=urn:btih:{1:040x}"
    assert outcomes(by_script(bob, bare)) == {f"{1:040x}": "added"}
    (one,) = storage.fake.transfers.values()
    one.title = "Sintel"
    (item,) = by_script(bob, bare).json()["items"]
    assert (item["name"], item["line"], item["key"]) == ("Sintel", bare, f"t{one.id}")
    assert item["outcome"] == "known"


def test_messages_for_an_older_service_claim_no_more_than_is_known(bob, storage):
    storage.says("/rest/transfer/magnet", httpx.Response(200, json={"result": True}))
    (item,) = by_script(bob, magnet(1)).json()["items"]
    assert item["outcome"] == "known"
    assert item["url"] == f"/transfers/s{Sent.objects.get().pk}/open/"


@each_case("extra", [{"title": "Sintel"}, {"torrent_hash": f"{1:040x}"}])
def test_an_answer_without_an_id_that_names_the_transfer_is_an_add(bob, storage, extra):
    Sent.objects.all().delete()
    answer = httpx.Response(200, json={"result": True, "code": 200} | extra)
    storage.says("/rest/transfer/magnet", answer)
    (item,) = by_script(bob, magnet(1)).json()["items"]
    assert (item["outcome"], item["sentence"]) == ("added", "Added")


def test_a_refused_link_stops_no_other_and_stays_in_the_field(bob, storage):
    storage.says(
        "/rest/transfer/magnet",
        httpx.Response(422, json={"reason_phrase": "parsing_error"}),
    )
    answer = typed(bob, magnet(1), magnet(2, "Cosmos"))
    assert answer.status_code == 422
    assert titles(storage) == ["Cosmos"]
    assert field(answer) == magnet(1)
    assert "can't read this" in words(answer, ".result.red")
    assert "1 added, 1 not added" in words(answer, "#results-summary")


@each_case(
    ("reason", "said"),
    [
        ({"error": "You have too many torrents"}, "It says: “You have too many torrents”"),
        ({"error": "torrent_banned"}, "It says: “torrent banned”"),
        ({"message": "Banned"}, "It says: “Banned”"),
        ({}, "without giving a reason"),
    ],
)
def test_a_refusal_shows_the_reason_that_the_service_gives(bob, storage, reason, said):
    refused = httpx.Response(200, json={"result": False} | reason)
    storage.says("/rest/transfer/magnet", refused)
    (item,) = by_script(bob, magnet(1)).json()["items"]
    assert item["outcome"] == "refused"
    assert said in item["sentence"]


def test_a_lack_of_space_says_how_much_is_missing_and_what_was_saved(bob, storage):
    wished = {
        "reason_phrase": "not_enough_space_added_to_wishlist",
        "wt": {"id": 1, "title": "Sintel", "size": 10**9},
        "space_max": 10**9,
        "space_used": 6 * 10**8,
    }
    storage.says("/rest/transfer/magnet", httpx.Response(413, json=wished))
    answer = by_script(bob, magnet(1)).json()
    assert answer["items"][0]["outcome"] == "no_room"
    assert "another 600 MB" in answer["items"][0]["sentence"]
    assert "on the wishlist" in answer["items"][0]["sentence"]
    assert answer["kept"] == []


@each_case("word", sorted(KNOWN_WORDS - {"access_denied", "name_taken"}))
def test_every_word_of_v1_has_a_plain_sentence(bob, storage, word):
    status = 403 if word == "premium_required" else 413
    for answered in (
        httpx.Response(200, json={"result": word}),
        httpx.Response(status, json={"reason_phrase": word}),
    ):
        storage.says("/rest/transfer/magnet", answered)
        (item,) = by_script(bob, magnet(1)).json()["items"]
        assert item["outcome"] in ("refused", "no_room")
        assert len(item["sentence"]) > 15
        assert word not in item["sentence"]


def test_an_unknown_reason_is_shown_in_the_services_words():
    assert "Moon in the way" in refusal_words(Rejected("x", said="Moon in the way"))
    assert "without giving a reason" in refusal_words(Rejected("moon"))
    assert "folder" in refusal_words(NotFound("not_found"))
    assert "enough space" in refusal_words(NoRoom("not_enough_space", missing_bytes=5))


# A service that is slow, away, or broken


@each_case(
    "failure",
    [
        httpx.Response(500),
        httpx.Response(200, html="<h1>Welcome</h1>"),
        httpx.Response(502, html="<h1>Bad gateway</h1>"),
        httpx.Response(504),
    ],
)
def test_an_ambiguous_response_is_reported_as_such_and_nothing_is_resent(bob, storage, failure):
    storage.says("/rest/transfer/magnet", failure)
    storage.fails("/rest/transfer", 503)
    answer = by_script(bob, magnet(1)).json()
    assert answer["items"][0]["outcome"] == "unsure"
    assert "Check the list" in answer["items"][0]["sentence"]
    assert answer["kept"] == [magnet(1)]
    assert storage.calls.count(("POST", "/rest/transfer/magnet")) == 1


@each_case("status", [401, 408, 425, 429, 503])
def test_a_service_that_accepts_nothing_stops_the_rest_which_stays(bob, storage, status):
    storage.fails("/rest/transfer/magnet", status)
    answer = by_script(bob, magnet(1), magnet(2), magnet(3)).json()
    assert [item["outcome"] for item in answer["items"]] == ["refused"]
    assert answer["trouble"]
    assert answer["kept"] + answer["left"] == [magnet(1), magnet(2), magnet(3)]
    assert storage.calls.count(("POST", "/rest/transfer/magnet")) == 1


@each_case(
    ("reason", "items"),
    [("private_not_allowed", 3), ("private_not_allowed_added_to_wishlist", 3), ("blocked", 1)],
)
def test_a_private_torrent_that_is_refused_does_not_stop_the_others(bob, storage, reason, items):
    """Any other 403 is about the account, and would meet the next item as well."""
    refused = httpx.Response(403, json={"reason_phrase": reason})
    storage.says("/rest/transfer/magnet", refused)
    answer = by_script(bob, magnet(1), magnet(2), magnet(3)).json()
    assert [item["outcome"] for item in answer["items"]] == ["refused", "added", "added"][:items]
    assert answer["left"] == [magnet(1), magnet(2), magnet(3)][items:]


def test_a_slow_service_is_not_waited_for_beyond_the_patience(bob, storage):
    seconds = iter(range(0, 1000, 5))
    context = SendContext(storage.service, bob.user, None, NOW)
    items = parse.read("\n".join(magnet(number) for number in range(1, 100)))
    done = add_send.send(context, items, clock=lambda: next(seconds))
    assert len(done.results) == 1
    assert done.left == [item.line for item in items[1:]]
    assert not done.failure


def test_failed_lines_stay_in_the_field_of_a_plain_form(bob, storage, monkeypatch):
    # No setting shortens the 8 s after which the rest stays in the field.
    monkeypatch.setattr(add_send, "PATIENCE_SECONDS", -1.0)
    answer = typed(bob, magnet(1), magnet(2))
    assert field(answer) == f"{magnet(1)}\n{magnet(2)}"
    assert "hasn't sent 2 lines yet" in words(answer, "main")


def test_more_results_than_anybody_reads_are_summed_up(bob, storage):
    answer = typed(bob, *[f"line {number}" for number in range(300)])
    assert len(page(answer).select(".result[data-outcome]")) == MOST_SHOWN
    assert "and 200 more" in words(answer, "#results")
    assert len(field(answer).splitlines()) == 300


def test_without_scripts_only_items_that_were_not_added_have_rows_until_dismissed(bob, storage):
    answer = typed(bob, magnet(1), magnet(2, "Cosmos"), "nothing")
    assert words(answer, "#results-summary") == "2 added, 1 not added"
    rows = [each["data-outcome"] for each in page(answer).select("#results li")]
    assert rows == ["unreadable"]
    dismissed = bob.client.get(
        page(answer).select_one("#results a[data-dismiss]:not([hidden])")["href"]
    )
    assert page(dismissed).select("#results li, #results a[data-dismiss]:not([hidden])") == []
    assert words(dismissed, "#results-summary") == ""


def test_nothing_at_all_says_what_to_do(bob, storage):
    assert "Paste a link" in by_script(bob, "").json()["reason"]
    answer = typed(bob, " ")
    assert answer.status_code == 422
    assert "Paste a link" in words(answer, "main [role=alert]")


# Records


def test_sent_items_are_recorded_with_their_source_and_sender(bob, storage):
    films = storage.folder("Films")
    by_script(bob, magnet(1) + "&xl=5000", folder=str(films.id))
    row = Sent.objects.get()
    assert (row.title, row.info_hash) == ("Sintel", f"{1:040x}")
    assert (row.source_kind, row.source) == ("magnet", magnet(1) + "&xl=5000")
    assert (row.added_by, row.size_bytes, row.folder_id) == (bob.user, 5000, str(films.id))
    assert next(iter(storage.fake.transfers.values())).folder == films.id


def test_a_foreign_service_is_sent_no_folder(bob, foreign):
    films = foreign.folder("Films")
    by_script(bob, magnet(1), folder=str(films.id))
    assert Sent.objects.get().folder_id == ""


def test_another_ferry_is_sent_the_folder(bob, foreign):
    foreign.fake.keeps_folder_id = True
    films = foreign.folder("Films")
    bob.client.get("/")
    assert page(bob.client.get("/add/")).select_one(f"#omni-folder option[value='{films.id}']")
    by_script(bob, magnet(1), folder=str(films.id))
    assert next(iter(foreign.fake.transfers.values())).folder == films.id


def test_the_folders_to_choose_from_are_shown_where_the_service_takes_one(bob, storage):
    films = storage.folder("Films")
    shown = page(bob.client.get(f"/add/?folder={films.id}"))
    assert [each.get_text() for each in shown.select("#omni-folder option")] == [
        "All files",
        "Films",
    ]
    assert shown.select_one("#omni-folder option[selected]")["value"] == str(films.id)


def test_any_folder_can_be_a_destination_and_the_last_ones_come_first(bob, storage):
    films, music = storage.folder("Films"), storage.folder("Music")
    old = storage.folder("Old", films.id)
    shown = page(bob.client.get("/add/"))
    assert shown.select_one("a[hx-target='#choose-folder']")["href"] == "/search/folder/"
    assert shown.select_one("dialog#choose-folder")
    there = page(bob.client.get("/transfers/?added=0"))
    assert [each["id"] for each in there.select("[id=choose-folder], [id=destination]")] == [
        *("choose-folder", "destination")
    ]
    for folder in (music, old):
        bob.client.get(f"/files/{folder.id}/")
        by_script(bob, magnet(folder.id), folder=str(folder.id))
    for path in ("/add/", "/transfers/"):
        options = page(bob.client.get(path)).select("#omni-folder option")
        assert [each.get_text(strip=True) for each in options] == [
            *("All files", "Films/Old", "Music", "Films")
        ]


def test_no_folder_choice_for_foreign_or_unreachable_services(bob, foreign, storage):
    foreign.folder("Films")
    assert not page(bob.client.get("/add/")).select("#omni-folder")
    foreign.fails("/rest/folder", 503)
    assert bob.client.get("/add/").status_code == 200


# Files


TORRENT = b"d8:announce3:udp4:infod6:lengthi5e4:name5:a.mkvee"


def drop(person, name, content, **headers):
    headers = {"x_requested_with": "ferry", "x_file_size": str(len(content)), **headers}
    body = body_of((name, content))
    return send(person.client, body, path="/transfers/send/", **headers)


def test_a_torrent_starts_a_transfer_and_is_saved_for_another_try(bob, storage):
    answer = json.loads(drop(bob, "a.torrent", TORRENT.decode()).content)
    assert answer["ok"]
    assert answer["items"][0]["outcome"] == "added"
    assert titles(storage) == ["a.mkv"]
    assert bytes(Sent.objects.get().torrent) == TORRENT


def awaited(storage):
    """Return the titles of the transfers that wait until someone has chosen their files."""
    rows = storage.fake.transfers.values()
    return [each.title for each in rows if each.facts.get("reason") == "choose_files"]


def test_torrents_wait_for_a_choice_of_files_if_the_form_asks_for_it(bob, storage):
    assert page(bob.client.get("/add/")).select_one("#send [type=checkbox][name=choose]")
    typed(bob, magnet(1, "Started"))
    typed(bob, magnet(2, "Typed"), "https://a.example/x.iso", choose="1")
    by_script(bob, magnet(3, "Sent"), choose="1")
    fields = [("choose", "1"), ("text", magnet(4, "With a file"))]
    body = body_of(("a.torrent", TORRENT.decode()), fields=fields)
    send(bob.client, body, path="/transfers/send/", x_requested_with="ferry")
    assert titles(storage)[:1] + awaited(storage) == [
        *("Started", "Typed", "Sent", "a.mkv", "With a file")
    ]


def test_a_dropped_torrent_waits_for_a_choice_that_its_url_asks_for(bob, storage):
    headers = {"x_requested_with": "ferry"}
    body = body_of(("a.torrent", TORRENT.decode()))
    send(bob.client, body, path="/transfers/send/?choose=1", **headers)
    assert awaited(storage) == ["a.mkv"]


def test_another_service_is_never_asked_to_wait_for_a_choice(bob, foreign):
    assert not page(bob.client.get("/add/")).select("[name=choose]")
    typed(bob, magnet(1), choose="1")
    drop(bob, "a.torrent", TORRENT.decode())
    assert (len(titles(foreign)), awaited(foreign)) == (2, [])


def test_the_page_that_asks_starts_everything(bob, storage):
    asked = page(bob.client.get("/add/", {"magnet": magnet(1)}))
    assert not asked.select("[name=choose]")


def test_any_other_file_is_uploaded(bob, storage):
    assert json.loads(drop(bob, "a.txt", "hello").content)["ok"]
    assert any(item.content == b"hello" for item in storage.fake.items.values())
    assert Sent.objects.get().torrent is None


def test_a_file_goes_to_the_folder_in_the_url(bob, storage):
    films = storage.folder("Films")
    path = f"/transfers/send/?folder={films.id}"
    body = body_of(("a.txt", "x"))
    send(bob.client, body, path=path, x_requested_with="ferry", x_file_size="1")
    assert next(i.parent for i in storage.fake.items.values() if i.name == "a.txt") == films.id


def test_a_plain_form_sends_lines_and_files_together(bob, storage):
    fields = [("text", magnet(1)), ("folder", "0")]
    answer = send(bob.client, body_of(("a.txt", "x"), fields=fields), path="/transfers/send/")
    assert answer.status_code == 302
    assert "2 added" in words(bob.client.get(answer["Location"]), "#toasts")


def test_a_plain_form_leads_to_the_transfers_that_it_added(bob, storage):
    films = storage.folder("Films & more")
    bob.client.get(f"/files/{films.id}/")
    cases = [(1, "", "All files"), (2, str(films.id), "Films & more")]
    for number, folder, name in cases:
        form = {"text": magnet(number), "folder": folder}
        shown = bob.client.post("/transfers/send/", form, follow=True)
        assert "1 added" in words(shown, "#toasts")
        assert f"The files will be in {name}." in words(shown, "#destination")
        link = f"/files/{folder}/" if folder else "/"
        assert page(shown).select_one("#destination a")["href"] == link
    assert len(page(shown).select("#active .transfer")) == 2


def test_an_address_that_names_an_unknown_folder_promises_nothing(bob, storage):
    for folder in ("", "999", "../x"):
        shown = bob.client.get("/transfers/", {"added": folder})
        assert not page(shown).select("#destination")


@each_case("path", ["/transfers/send/", "/files/0/upload/"])
def test_a_torrent_is_passed_on_although_it_is_larger_than_the_space(
    bob, storage, monkeypatch, path
):
    # The fake service has one space for all tests.
    monkeypatch.setattr("tests.contract.fake.SPACE", 10)
    bob.client.get("/")
    headers = {"x_requested_with": "ferry", "x_file_size": str(len(TORRENT)), "path": path}
    answer = send(bob.client, body_of(("a.torrent", TORRENT.decode())), **headers)
    assert "enough space" not in answer.content.decode()
    assert ("POST", "/rest/transfer/file") in storage.calls


def test_a_torrent_that_is_too_large_for_one_is_never_held(bob, storage, monkeypatch):
    # No setting lowers the limit, and nothing outside shows that Ferry doesn't hold the content.
    monkeypatch.setattr("webui.add.form_body.MOST_TORRENT_BYTES", 10)
    monkeypatch.setattr("webui.add.form_body.whole", None)
    assert json.loads(drop(bob, "a.torrent", "x" * 100).content)["ok"]


def test_a_file_that_does_not_fit_is_refused_unread(bob, storage):
    bob.client.get("/")
    headers = {"x_requested_with": "ferry", "x_file_size": "9"}
    answer = send(bob.client, Untouchable(), path="/transfers/send/", length=2 * 10**9, **headers)
    assert answer.status_code == 413
    assert "enough space" in json.loads(answer.content)["reason"]


@pytest.mark.promise("ten megabytes of links are read")
@pytest.mark.slow
def test_ten_megabytes_of_text_are_taken_and_no_more(bob, storage):
    fits = "x" * (parse.MOST_BYTES - 10)
    assert outcomes(in_parts(bob, text=fits)).popitem()[1] == "unreadable"
    answer = in_parts(bob, text=fits + "x" * 20)
    assert answer.status_code == 413
    assert "10 MB" in answer.json()["reason"]


@each_case("path", ["/transfers/send/", "/add/"])
def test_a_large_form_of_the_coding_that_no_page_uses_is_refused_unread(bob, storage, path):
    kind = "application/x-www-form-urlencoded"
    facts = {"CONTENT_TYPE": kind, "CONTENT_LENGTH": str(2**20 + 1), "wsgi.input": Untouchable()}
    answer = bob.client.generic("POST", path, **facts)
    assert answer.status_code == 413
    assert "multipart/form-data" in words(answer, "main")


@each_case("name", ["title", "folder", "other"])
def test_only_the_fields_for_links_hold_much(bob, storage, name):
    answer = in_parts(bob, text=magnet(1), **{name: "x" * 100_000})
    assert answer.status_code == 413
    assert titles(storage) == []


# A page that was left open


def browser_of(person):
    browser = Client(headers={"host": "localhost:8000"}, enforce_csrf_checks=True)
    browser.force_login(person.user)
    return browser


@each_case("path", ["/transfers/send/", "/add/"])
def test_an_out_of_date_form_adds_nothing_and_loses_nothing(bob, storage, path):
    answer = browser_of(bob).post(path, {"text": magnet(1)})
    assert answer.status_code == 403
    assert titles(storage) == []
    assert field(answer) == magnet(1)
    token = page(answer).select_one("#send [name=csrfmiddlewaretoken]")["value"]
    assert token


def test_a_form_sent_after_the_session_ended_is_refused_with_an_explanation(mallory):
    answer = mallory.post("/add/", {"text": magnet(1)})
    assert answer.status_code == 403
    assert "Go back, copy what you typed" in words(answer, "main")


def test_a_file_is_not_read_after_the_session_ended(mallory):
    answer = send(mallory, Untouchable(), path="/add/", length=10**6)
    assert answer.status_code == 403


def test_a_plain_form_with_its_token_passes_in_both_codings(bob, storage):
    browser = browser_of(bob)
    token = page(browser.get("/add/")).select_one("#send [name=csrfmiddlewaretoken]")["value"]
    form = {"csrfmiddlewaretoken": token, "text": magnet(1)}
    assert browser.post("/transfers/send/", form).status_code == 302
    kind = "application/x-www-form-urlencoded"
    form["text"] = magnet(2)
    answer = browser.post("/transfers/send/", urlencode(form), content_type=kind)
    assert answer.status_code == 302
    assert len(titles(storage)) == 2


# How a text is read, for scripts


def reading(person, text, path="/add/read/", **fields):
    return person.client.post(path, {"text": text, **fields}, headers=SCRIPT).json()


def test_the_field_describes_its_links_and_flags_other_lines(bob, storage):
    bad = [f"nothing {number}" for number in range(7)]
    found = reading(
        bob, "\n".join([magnet(1), "", "<b>no</b>" + "x" * 60, *bad, magnet(2, "Cosmos")])
    )
    assert found["found"] == "2 links: \u2068Sintel\u2069, \u2068Cosmos\u2069"
    assert found["button"] == "Add 2"
    marks = BeautifulSoup(found["marks"], "html.parser").select("li")
    assert len(marks) == 6
    assert marks[0].q.get_text() == "<b>no</b>" + "x" * 51 + "…"
    assert "Line 3, <q>" in str(marks[0])
    assert "This isn't a magnet link" in marks[0].get_text()
    assert marks[-1].get_text() == "and 3 more"
    assert storage.calls == []


def test_a_single_link_is_named_and_keeps_the_button_label(bob):
    found = reading(bob, magnet(1))
    assert found == {"found": "1 link: \u2068Sintel\u2069", "button": "", "marks": ""}
    assert reading(bob, "") == {"found": "", "button": "", "marks": ""}


def test_the_page_that_asks_learns_its_rows(bob, storage):
    text = f"Look at this:\n{magnet(1)}&xl=9800000000\nhttps://a.example/x.iso"
    rows = BeautifulSoup(reading(bob, text, "/add/read/?picks")["picks"], "html.parser")
    boxes = rows.select("input[name=line]")
    assert [box["value"] for box in boxes] == [
        magnet(1) + "&xl=9800000000",
        "https://a.example/x.iso",
    ]
    assert [box["data-size"] for box in boxes] == ["9800000000", "0"]
    assert "9.8 GB" in rows.get_text()
    assert storage.calls == []


def test_a_title_names_a_row_and_what_is_sent_for_it(bob):
    bare = f"magnet:?xt=urn:btih:{5:040x}"
    rows = BeautifulSoup(
        reading(bob, bare, "/add/read/?picks", title="Three Men")["picks"], "html.parser"
    )
    assert rows.bdi.get_text() == "Three Men"
    assert rows.input["value"] == f"{bare}&dn=Three%20Men"


def test_links_of_a_site_offer_the_folder_of_its_last_links(bob, storage):
    def offered(site):
        return reading(bob, magnet(2), "/add/read/?picks", **{"from": site})["folder"]

    films = storage.folder("Films")
    bob.client.get(f"/files/{films.id}/")
    by_script(bob, magnet(1), folder=films.id, **{"from": "films.example"})
    assert offered("films.example") == [str(films.id), "Films"]
    assert offered("music.example") is None
    assert offered("") is None
    by_script(bob, magnet(3), folder="0", **{"from": "films.example"})
    assert offered("films.example") is None


def test_a_device_remembers_the_folders_of_fifty_sites(bob, storage):
    films = storage.folder("Films")
    bob.client.get(f"/files/{films.id}/")
    for number in range(51):
        by_script(bob, magnet(1), folder=films.id, **{"from": f"site{number}.example"})
    sites = bob.client.session["folders_of_sites"][1]
    assert [*sites] == [f"site{number}.example" for number in range(1, 51)]


def test_links_beyond_those_that_are_shown_are_one_row(bob):
    links = [magnet(number) for number in range(1, 704)]
    rows = BeautifulSoup(reading(bob, "\n".join(links), "/add/read/?picks")["picks"], "html.parser")
    assert len(rows.select("input[name=line]")) == 500
    assert rows.select_one("input[name=text]")["value"].split("\n") == links[500:]
    assert rows.select("li")[-1].get_text() == "and 203 more"


def test_a_file_beside_a_text_is_not_sent(bob, storage):
    body = body_of(("a.torrent", TORRENT.decode()), fields=[("text", magnet(1))])
    answer = send(bob.client, body, path="/add/read/", x_requested_with="ferry")
    assert json.loads(answer.content)["found"]
    assert storage.calls == []


# The page that asks for confirmation


def test_opening_a_share_lists_the_items_and_adds_nothing(bob, storage):
    query = urlencode({"magnet": magnet(1) + "&xl=9800000000&tr=a&tr=b"})
    shown = bob.client.get(f"/add/?{query}")
    row = words(shown, "#picks li")
    assert "Sintel" in row
    assert "magnet, 2 trackers" in row
    assert "9.8 GB" in row
    assert page(shown).h1.get_text() == "Add this download?"
    assert [call for call in storage.calls if call[0] == "POST"] == []


def test_shares_may_contain_several_links_and_prose(bob, storage):
    query = urlencode(
        [
            ("magnet", magnet(1)),
            ("url", "https://a.example/x.iso"),
            ("text", f"Look at this {magnet(2)} soon\nand that"),
        ]
    )
    shown = page(bob.client.get(f"/add/?{query}"))
    assert len(shown.select("#picks input[name=line]")) == 3
    assert shown.h1.get_text() == "Add 3 links?"


def test_without_the_slash_it_is_the_same_page(bob):
    answer = bob.client.get("/add?magnet=x")
    assert answer.status_code == 301
    assert answer["Location"] == "/add/?magnet=x"


def test_the_button_adds_the_checked_items_and_says_so(bob, storage):
    answer = bob.client.post("/add/", {"line": [magnet(1), magnet(2, "Cosmos")]})
    assert answer.status_code == 200
    assert "2 added. You can close this window." in words(answer, "#said")
    assert page(answer).h1.get_text() == "In progress"
    assert titles(storage) == ["Sintel", "Cosmos"]


def test_items_that_are_already_in_ferry_are_not_called_added(bob, storage):
    form = page(bob.client.get(f"/add/?{urlencode({'magnet': magnet(1)})}")).select_one("#ask")
    lines = {"line": [each["value"] for each in form.select("input[name=line]")]}
    for heading in ("In progress", "Already in Ferry"):
        answer = bob.client.post(form.get("action", "/add/"), lines)
        assert page(answer).h1.get_text() == heading
    assert "added" not in words(answer, "#said")
    assert titles(storage) == ["Sintel"]


def test_failed_items_stay_checked_for_another_try(bob, storage):
    storage.says("/rest/transfer/magnet", httpx.Response(422, json={"reason_phrase": "x"}))
    answer = bob.client.post("/add/", {"line": [magnet(1), magnet(2, "Cosmos")]})
    assert answer.status_code == 422
    left = page(answer).select("#picks input[name=line]")
    assert [each["value"] for each in left] == [magnet(1)]


def test_a_shared_title_names_items_without_a_name(bob, storage):
    query = urlencode({"text": f"magnet:?xt=urn:btih:{5:040x}", "title": "Three Men"})
    assert "Three Men" in words(bob.client.get(f"/add/?{query}"), "#picks")


def test_lines_that_are_not_links_show_a_reason_and_no_checkbox(bob, storage):
    shown = bob.client.get("/add/?url=javascript:alert(1)")
    assert "magnet links and addresses that begin with http" in words(shown, "#picks li")
    assert not page(shown).select("#picks input")


def test_a_share_without_the_service_worker_is_neither_read_nor_saved(mallory, storage):
    answer = send(mallory, Untouchable(), path="/add/share/", length=10**9)
    assert answer.status_code == 303
    assert answer["Location"] == "/add/?shared=none"
    assert not answer.cookies


def test_the_manifest_names_its_ways_in(mallory):
    answer = mallory.get("/manifest.webmanifest")
    assert answer["Content-Type"] == "application/manifest+json"
    facts = answer.json()
    assert facts["share_target"]["action"] == "/add/share/"
    assert facts["protocol_handlers"] == [{"protocol": "magnet", "url": "/add/?magnet=%s"}]
    assert facts["file_handlers"][0]["accept"] == {"application/x-bittorrent": [".torrent"]}
    assert {icon["purpose"] for icon in facts["icons"]} == {"any", "maskable"}


def test_the_worker_is_a_script_at_the_top(mallory):
    answer = mallory.get("/sw.js")
    assert answer["Content-Type"].startswith("text/javascript")
    assert answer["Cache-Control"] == "no-cache"


def test_the_summary_counts_each_kind():
    assert results_panel([]).rows == []
