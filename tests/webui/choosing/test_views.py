"""Choosing files of a torrent: the page, its form, and what the row of the transfer offers."""

import pytest

from tests.people import page, words
from webui.choosing.page import choice_page
from webui.choosing.tree import MOST_DEPTH, MOST_LISTED, indexes_in_form, tree_of
from webui.models import Activity
from webui.transfers import actions
from webui.transfers.states import CachedTransfer
from webui.v1.own_records import TransferFile
from webui.words.reasons import REASONS

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
SEASON = {
    "Extras/Cover.jpg": 2_000_000,
    "Extras/Notes.txt": 1_000,
    "Episode 10.mkv": 3_000_000_000,
    "Episode 2.mkv": 2_000_000_000,
    "Episode 2.srt": 50_000,
}
AWAITED = {"state": "stopped", "stopped": 1, "reason": "choose_files"}


@pytest.fixture
def season(alice, storage):
    return add(alice, storage, SEASON, state="downloading", progress=20, size=5_000_000_000)


def add(person, storage, sizes, **facts):
    """Add a transfer with these files, and have the site read it."""
    one = storage.transfer("Season", file_count=len(sizes), **facts)
    one.facts["files"] = [
        {"index": index, "path": path, "size": size, "progress": 0, "wanted": True}
        for index, (path, size) in enumerate(sizes.items())
    ]
    person.client.get("/transfers/")
    return one


def end(person, storage, one, *, present):
    for file in one.facts["files"][:present]:
        file["progress"] = 100
    storage.tells(one, state="done", progress=101, folder_created=5)
    actions.mark_changed(storage.service)
    person.client.get("/transfers/")


def address(one, rest=""):
    return f"/transfers/t{one.id}/files/{rest}"


def wanted(storage, one):
    return [each["index"] for each in one.facts["files"] if each["wanted"]]


def chosen(answer):
    return [int(box["value"]) for box in page(answer).select("[name=file][checked]")]


def sent(storage, one):
    return [call for call in storage.calls if call == ("POST", f"/rest/transfer/{one.id}/files")]


# The page


def test_the_page_shows_a_tree_with_sizes_and_kinds(alice, season):
    shown = alice.client.get(address(season))
    rows = [
        " ".join(row.get_text(" ").split()) for row in page(shown).select(".tree > li > label.pick")
    ]
    assert rows == [
        "Episode 2.mkv Film 2 GB 0%",
        "Episode 2.srt Subtitles 50 KB 0%",
        "Episode 10.mkv Film 3 GB 0%",
    ]
    assert words(shown, ".tree .branch summary") == "Extras 2 files, 2 MB"
    assert (
        words(shown, ".tree .branch ul") == "Cover.jpg Picture 2 MB 0% Notes.txt Document 1 KB 0%"
    )
    assert words(shown, "[data-sum]") == "5 of 5 files, 5 GB of 5 GB"
    assert (
        words(shown, ".choice-sum") == "5 of 5 files, 5 GB of 5 GB 1 GB free You need another 4 GB."
    )
    assert chosen(shown) == [0, 1, 3, 4, 2]
    assert words(shown, ".choice legend") == "Files"


def test_the_progress_of_each_file_shows(alice, storage, season):
    season.facts["files"][3]["progress"] = 41
    shown = alice.client.get(address(season))
    assert words(shown, "[data-percent='3']") == "41%"
    assert alice.client.get(address(season, "progress/")).json() == {
        **dict.fromkeys("0124", 0),
        "3": 41,
    }


@pytest.mark.parametrize(
    ("mark", "indexes"), [("all", [0, 1, 3, 4, 2]), ("none", []), ("films", [3, 2]), ("x", [4])]
)
def test_without_scripts_a_link_marks_files(alice, storage, season, mark, indexes):
    for each in season.facts["files"]:
        each["wanted"] = each["index"] == 4
    assert chosen(alice.client.get(address(season, f"?mark={mark}"))) == indexes


def test_ugly_names_are_isolated_and_harmless(alice, storage):
    ugly = ["\u202egpj.mkv", "<b onclick=x>/&amp;.txt", "x" * 255, "//a", "ש" * 127]
    one = add(alice, storage, dict.fromkeys(ugly, 1), state="queued")
    shown = alice.client.get(address(one))
    names = {each.get_text() for each in page(shown).select(".tree bdi")}
    assert names == {"\u202egpj.mkv", "<b onclick=x>", "&amp;.txt", "x" * 255, "", "a", "ש" * 127}
    assert b"<b onclick" not in shown.content
    assert len(page(shown).select("[name=file]")) == len(ugly)


def test_without_the_list_of_files_there_is_nothing_to_choose(alice, storage):
    one = add(alice, storage, {}, state="metadata", chooses=True)
    shown = alice.client.get(address(one), headers=HTMX)
    assert "Ferry is getting the list of files" in words(shown, "form")
    assert not page(shown).select("[type=submit]")


def test_what_has_ended_has_no_choice(alice, storage):
    one = add(alice, storage, SEASON, state="failed", progress=20)
    assert alice.client.get(address(one)).status_code == 404


def test_of_a_finished_torrent_one_chooses_what_is_missing(bob, storage):
    one = add(bob, storage, SEASON, state="downloading", progress=20)
    end(bob, storage, one, present=2)
    assert "choose" in page(bob.client.get("/transfers/")).select_one(".more")["data-acts"].split()
    shown = bob.client.get(address(one))
    boxes = page(shown).select("[name=file]")
    assert [box["value"] for box in boxes] == ["3", "4", "2"]
    assert chosen(shown) == []
    assert not words(shown, ".error")
    assert bob.client.post(address(one), {"file": "0"}).status_code == 422
    bob.client.post(address(one), {"file": "3"})
    assert len(sent(storage, one)) == 1


def test_a_finished_torrent_with_all_its_files_says_so(bob, storage):
    one = add(bob, storage, SEASON, state="downloading", progress=20)
    end(bob, storage, one, present=5)
    shown = bob.client.get(address(one), headers=HTMX)
    assert "All files of this torrent have arrived." in words(shown, "form")
    assert not page(shown).select("[type=submit]")


def test_refusals_of_a_choice_are_sentences(bob, storage, season):
    for reason in ("files_unknown", "nothing_wanted", "transfer_failed", "unknown_file"):
        storage.fails(f"/rest/transfer/{season.id}/files", 422, reason)
        answer = bob.client.post(address(season), {"file": "1"})
        assert answer.status_code == 422
        assert REASONS[reason].title in words(answer, "main")


def test_deep_folders_become_parts_of_names():
    path = "/".join(map(str, range(500)))
    branch = tree_of([TransferFile(0, path, 1, 0, is_wanted=True)])
    for number in range(MOST_DEPTH):
        (branch,) = branch.folders.values()
        assert branch.name == str(number)
    ((name, _file),) = branch.files
    assert name == "/".join(map(str, range(MOST_DEPTH, 500)))


def test_one_box_stands_for_files_beyond_ten_thousand():
    count = MOST_LISTED + 3
    files = [TransferFile(each, f"{each}.mkv", 5, 0, is_wanted=True) for each in range(count)]
    shown = choice_page(CachedTransfer("t7", "7", "Huge"), files, range(count), None)
    assert len(shown["tree"].files) == MOST_LISTED
    expected = {"text": "and 3 more", "count": 3, "size_bytes": 15, "is_chosen": True}
    assert shown["rest"] == expected
    assert indexes_in_form(files, {"0"}, has_rest=True) == {0, *range(MOST_LISTED, count)}
    assert indexes_in_form(files, {"0", str(MOST_LISTED)}, has_rest=False) == {0}


# The form


def test_a_form_chooses_files(bob, storage, season):
    answer = bob.client.post(address(season), {"file": ["2", "3", "99", "x"]}, follow=True)
    assert answer.redirect_chain == [("/transfers/", 302)]
    assert "2 files chosen" in words(answer, "#toasts")
    assert wanted(storage, season) == [2, 3]
    assert chosen(bob.client.get(address(season))) == [3, 2]
    event = Activity.objects.get()
    assert (event.kind, event.person, event.subject, event.count) == (
        *("files_chosen", "bob", "Season", 2),
    )


def test_owners_see_who_chose(alice, bob, season):
    bob.client.post(address(season), {"file": "2"})
    shown = alice.client.get("/account/activity/")
    assert "bob chose 1 file of “Season”" in words(shown, "main")


def test_a_dialog_saves_and_says_so(bob, storage, season):
    answer = bob.client.post(address(season), {"file": "2"}, headers=HTMX)
    assert answer.status_code == 204
    assert "1 file chosen" in answer["HX-Trigger"]
    assert wanted(storage, season) == [2]


def test_at_least_one_file_must_be_chosen(bob, storage, season):
    refused = bob.client.post(address(season), {})
    assert refused.status_code == 422
    assert words(refused, "[role=alert]") == "Choose at least one file."
    assert words(refused, "h1") == "Choose files"
    dialog = bob.client.post(address(season), {}, headers=HTMX)
    assert (dialog.status_code, dialog["HX-Retarget"]) == (422, "#choose-files")
    assert sent(storage, season) == []


def test_an_unchanged_choice_is_neither_sent_nor_recorded(bob, storage, season):
    bob.client.post(address(season), {"file": list("01234")})
    assert sent(storage, season) == []
    assert not Activity.objects.exists()


@pytest.mark.slow
def test_a_form_takes_ten_thousand_files(bob, storage):
    sizes = {f"{number:05}.{'x' * 20}": 1 for number in range(MOST_LISTED)}
    one = add(bob, storage, sizes, state="downloading")
    indexes = [str(each) for each in range(1, MOST_LISTED)]
    assert bob.client.post(address(one), {"file": indexes}).status_code == 302
    assert len(wanted(storage, one)) == MOST_LISTED - 1


# The row


def test_a_torrent_that_waits_for_a_choice_says_so_and_begins_with_it(bob, storage):
    one = add(bob, storage, SEASON, **AWAITED, size=5_000_000_000)
    shown = bob.client.get("/transfers/")
    assert words(shown, f"#t{one.id} .facts") == "Waiting for your choice 5 GB"
    main = page(shown).select_one(f"#t{one.id} a.btn.primary")
    assert (main.get_text(), main["href"]) == ("Choose files", address(one))
    assert not page(shown).select(f"#t{one.id} :is(progress, .transfer-pct)")
    form = bob.client.get(address(one), headers=HTMX)
    assert words(form, "[type=submit]") == "Download chosen files"
    assert not page(form).select("[data-percent]")
    bob.client.post(address(one), {"file": list("01234")})
    assert one.facts["state"] == "queued"
    shown = bob.client.get("/transfers/")
    assert not page(shown).select(f"#t{one.id} a.btn.primary")
    assert words(bob.client.get(address(one)), "[type=submit]") == "Save"


def test_a_magnet_link_first_gets_its_list_of_files(bob, storage):
    one = storage.transfer("Season", state="metadata", chooses=True)
    shown = bob.client.get("/transfers/")
    assert words(shown, f"#t{one.id} .facts") == "Getting the list of files looking for peers"


def test_the_menu_offers_a_choice_while_several_files_arrive(bob, storage):
    season = storage.transfer("Season", state="downloading", file_count=5)
    others = [
        storage.transfer("One file", state="downloading", file_count=1),
        storage.transfer("a.iso", state="downloading"),
        storage.transfer("Moving", state="moving", progress=100, file_count=5),
        storage.transfer("Failed", state="failed", file_count=5),
    ]
    shown = page(bob.client.get("/transfers/"))
    offers = {each.id: shown.select_one(f"#t{each.id} .more")["data-acts"] for each in others}
    assert not [acts for acts in offers.values() if "choose" in acts.split()]
    assert "choose" in shown.select_one(f"#t{season.id} .more")["data-acts"].split()
    # Without scripts, there is no menu.
    assert shown.select_one(f"#t{season.id} noscript a")["href"] == address(season)


def test_guests_see_and_choose_nothing(gwen, storage):
    one = add(gwen, storage, SEASON, **AWAITED)
    shown = page(gwen.client.get("/transfers/"))
    assert not shown.select(
        "[data-choose]:not([data-do]), #choose-files, noscript a.btn[href*=files]"
    )
    assert "Waiting for your choice" in shown.get_text()
    for answer in (
        gwen.client.get(address(one)),
        gwen.client.post(address(one), {"file": "1"}),
        gwen.client.get(address(one, "progress/")),
    ):
        assert answer.status_code == 403
    assert sent(storage, one) == []


def test_another_service_offers_no_choice(bob, foreign):
    one = foreign.transfer("Season", progress=20, size=5, file_count=5, unwanted="[1]")
    shown = page(bob.client.get("/transfers/"))
    assert not shown.select(f"#t{one.id} [data-choose], [name=choose]")
    assert bob.client.get(address(one)).status_code == 404
    assert bob.client.post(address(one), {"file": "1"}).status_code == 404
