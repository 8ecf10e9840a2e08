"""Move and copy entries, in Files."""

import pytest
from django.utils import timezone

from service.library import library
from service.models import Account, File, Folder
from tests.people import page, words
from tests.service.builders import a_file, a_folder, a_tree
from webui.connection.connection import service as connected
from webui.models import Activity, Watched

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def account(own_service) -> Account:
    return own_service


def key(row) -> str:
    return f"{'file' if isinstance(row, File) else 'folder'}-{row.pk}"


def post(person, *rows, source=None, headers=None, **more):
    data = {"entry": [key(row) for row in rows], **more}
    place = source.pk if source else 0
    return person.client.post(f"/files/{place}/move/", data, headers=headers)


def place_of(row) -> str:
    row.refresh_from_db()
    parent = row.folder if isinstance(row, File) else row.parent
    return library.path_of(parent)


def form_of(answer) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for each in page(answer).select("form.move input[name]"):
        fields.setdefault(each["name"], []).append(each.get("value", ""))
    return fields


def places(answer) -> list[str]:
    return [each.get_text().strip() for each in page(answer).select(".places button")]


def test_people_choose_a_folder_and_move_there_without_scripts(bob, account):
    file = a_file(account, "a.txt")
    target = a_tree(account, "Old", ["2024/b.txt"])
    dialog = post(bob, file)
    assert "Move or copy 1 item" in words(dialog, "h1")
    assert places(dialog) == ["Old"]
    assert page(dialog).select_one("button[value=move]").has_attr("disabled")
    opened = bob.client.post("/files/0/move/", form_of(dialog) | {"open": target.pk})
    assert places(opened) == ["2024"]
    back = bob.client.post("/files/0/move/", form_of(opened) | {"act": "move"}, follow=True)
    assert back.redirect_chain[-1][0] == "/"
    assert "1 item moved to Old" in words(back, "#toasts")
    assert place_of(file) == "Old"
    (event,) = Activity.objects.filter(kind="moved")
    assert (event.subject, event.detail, event.count) == ("a.txt", "Old", 1)
    (undo,) = page(back).select(".toast form")
    fields = {each["name"]: each["value"] for each in undo.select("input")}
    undone = bob.client.post(undo["action"], fields, follow=True)
    assert "Undone" in words(undone, "#toasts")
    assert place_of(file) == ""
    again = bob.client.post(undo["action"], fields, follow=True)
    assert "There is nothing left to undo." in words(again, "#toasts")


def test_a_folder_cannot_be_moved_into_itself(bob, account):
    films = a_folder(account, "Films")
    a_folder(account, "Old")
    dialog = post(bob, films)
    disabled = [each.has_attr("disabled") for each in page(dialog).select(".places button")]
    assert disabled == [True, False]
    refused = post(bob, films, to=films.pk, act="move")
    assert refused.status_code == 422
    assert "A folder can't be moved into itself" in words(refused, "[role=alert]")


def test_a_folder_is_found_by_its_name(bob, account):
    file = a_file(account, "a.txt")
    a_tree(account, "Films", ["Harbour lights/b.txt"])
    found = post(bob, file, find="harbour")
    assert places(found) == ["Harbour lightsFilms"]
    assert "No folder is called that." in words(post(bob, file, find="zzz"), ".places")
    opened = post(bob, file, find="harbour", open=Folder.objects.get(name="Harbour lights").pk)
    assert "Harbour lights" in words(opened, ".move .crumbs")


def test_the_dialog_begins_one_level_up_where_no_folder_is_inside(bob, account):
    old = a_tree(account, "Films", ["Old/a.txt", "New/b.txt"])
    inner = Folder.objects.get(name="Old")
    file = File.objects.get(name="a.txt")
    dialog = post(bob, file, source=inner)
    assert places(dialog) == ["New", "Old"]
    assert form_of(dialog)["to"] == [str(old.pk)]
    assert not page(dialog).select_one("button[value=move]").has_attr("disabled")
    a_folder(account, "Films/Old/Silent")
    assert places(post(bob, file, source=inner)) == ["Silent"]
    moved = Folder.objects.get(name="Silent")
    assert places(post(bob, moved, source=inner)) == ["New", "Old"]
    opened = post(bob, file, source=inner, open=Folder.objects.get(name="New").pk)
    assert places(opened) == []


def test_the_dialog_offers_the_folders_that_were_used_last(bob, account):
    for name in ("One", "Two", "Three"):
        folder = a_folder(account, name)
        post(bob, a_file(account, f"{name}.txt"), to=folder.pk, act="move")
    deep = a_tree(account, "Films", ["Old/b.txt"])
    inner = Folder.objects.get(name="Old")
    post(bob, a_file(account, "c.txt"), to=inner.pk, act="copy")
    Folder.objects.filter(name="Two").get()
    library.delete_folder(account, Folder.objects.get(name="Two").pk, timezone.now())
    file = a_file(account, "d.txt")
    dialog = post(bob, file)
    recent = page(dialog).select(".recent button")
    assert [each.get_text(strip=True) for each in recent] == ["Films/Old", "Three", "One"]
    opened = post(bob, file, open=recent[0]["value"])
    assert "Films / Old" in words(opened, ".move .crumbs")
    assert not page(opened).select(".recent")
    assert not page(post(bob, file, find="old")).select(".recent")
    source = post(bob, File.objects.get(name="One.txt"), source=Folder.objects.get(name="One"))
    names = [each.get_text(strip=True) for each in page(source).select(".recent button")]
    assert names == ["Films/Old", "Three"]
    assert deep.name == "Films"


def test_a_dialog_with_very_many_folders_says_how_to_reach_the_rest(bob, account, monkeypatch):
    # A test shouldn't have to insert 200 folders.
    monkeypatch.setattr("webui.moving.page.MOST_LISTED", 2)
    for name in ("One", "Three", "Two"):
        a_folder(account, name)
    file = a_file(account, "a.txt")
    dialog = post(bob, file)
    assert places(dialog) == ["One", "Three"]
    assert "and 1 more" in words(dialog, ".places")
    assert places(post(bob, file, find="two")) == ["TwoAll files"]


def test_taken_names_are_one_question(bob, account):
    target = a_tree(account, "Old", ["a.txt", "Films/b.txt"])
    file, films = a_file(account, "a.txt"), a_tree(account, "Films", ["c.txt"])
    dialog = post(bob, file, films, to=target.pk, act="move")
    assert "2 names are taken" in words(dialog, "h1")
    assert "Old already contains items with these names." in words(dialog, "form.move")
    form = form_of(dialog)
    back = bob.client.post("/files/0/move/", form | {"if_taken": "keep_both"}, follow=True)
    assert "2 items moved to Old" in words(back, "#toasts")
    assert {file.name for file in File.objects.filter(folder=target)} == {"a.txt", "a (2).txt"}


def test_scripts_get_the_listing_with_an_undo(bob, account):
    file, target = a_file(account, "a.txt"), a_folder(account, "Old")
    answer = post(bob, file, to=target.pk, act="move", headers=HTMX)
    assert answer["HX-Retarget"] == "#listing"
    assert [each["title"] for each in page(answer).select("#listing .entry-name")] == ["Old"]
    assert page(answer).select(".toast form")


def test_pasted_entries_appear_in_the_folder(bob, account):
    file, target = a_file(account, "a.txt"), a_folder(account, "Old")
    sent = {"to": target.pk, "act": "copy", "shown": target.pk}
    answer = post(bob, file, headers=HTMX, **sent)
    assert [each["title"] for each in page(answer).select("#listing .entry-name")] == ["a.txt"]
    dialog = post(bob, file, headers=HTMX, **sent)
    assert dialog["HX-Retarget"] == "#move"
    assert form_of(dialog)["shown"] == [str(target.pk)]


def test_films_in_progress_keep_their_positions(bob, account):
    film, target = a_file(account, "film.mkv"), a_folder(account, "Old")
    bob.client.get("/")
    bob.client.get(f"/files/{target.pk}/")
    Watched.objects.create(
        user=bob.user,
        service=connected().key,
        file=str(film.pk),
        folder="0",
        position_seconds=60,
        duration_seconds=600,
        updated_at=timezone.now(),
    )
    moved = post(bob, film, to=target.pk, act="move", headers=HTMX)
    assert Watched.objects.get().folder == str(target.pk)
    assert page(bob.client.get(f"/files/{target.pk}/")).select("#listing progress")
    (undo,) = page(moved).select(".toast form input[name=undo]")
    bob.client.post("/files/undo/", {"undo": undo["value"]})
    assert Watched.objects.get().folder == "0"


def test_everything_that_matches_the_filter_moves_but_what_was_spared(bob, account):
    target = a_folder(account, "Old")
    files = [a_file(account, name) for name in ("a1.txt", "a2.txt", "b.txt")]
    sent = {"all": "1", "q": "a", "but": key(files[1])}
    dialog = post(bob, **sent)
    form = form_of(dialog)
    assert (form["all"], form["q"], form["but"]) == (["1"], ["a"], [key(files[1])])
    bob.client.post("/files/0/move/", form | {"to": target.pk, "act": "move"})
    assert [place_of(file) for file in files] == ["Old", "", ""]


def test_no_more_move_together_than_the_service_takes(bob, account, monkeypatch):
    # A test can't make 10,000 files.
    monkeypatch.setattr("webui.moving.views.MOST_TOGETHER", 1)
    files, target = [a_file(account, name) for name in ("a.txt", "b.txt")], a_folder(account, "Old")
    refused = post(bob, *files, to=target.pk, act="move")
    assert "at most 1 items at once" in words(refused, "[role=alert]")
    assert [place_of(file) for file in files] == ["", ""]


@pytest.mark.parametrize("to", ["../account", "0/../1", "x" * 99, "\0", "999999"])
def test_an_unknown_target_folder_is_refused(bob, account, to):
    file = a_file(account, "a.txt")
    assert places(post(bob, file, to=to)) == []
    for act in ("move", "copy"):
        refused = post(bob, file, to=to, act=act)
        assert "This folder is gone. Choose another." in words(refused, "[role=alert]")
    assert place_of(file) == ""
    assert File.objects.count() == 1


def test_missing_entries_are_reported(bob, account):
    file = a_file(account, "a.txt")
    library.delete_file(account, file.pk, timezone.now())
    dialog = post(bob, file, act="move", to="0")
    assert "Someone else has already deleted or moved these items." in words(dialog, "form.move")


def test_a_new_name_is_undone_unless_the_old_one_is_taken(bob, account):
    file = a_file(account, "a.txt")
    for headers in (HTMX, None):
        sent = bob.client.post(f"/files/0/{key(file)}/rename/", {"name": "b.txt"}, headers=headers)
        shown = sent if headers else bob.client.get(sent["Location"])
        assert "Renamed" in words(shown, ".toast")
        (undo,) = page(shown).select(".toast form input[name=undo]")
        bob.client.post("/files/undo/", {"undo": undo["value"]})
        file.refresh_from_db()
        assert file.name == "a.txt"
    bob.client.post(f"/files/0/{key(file)}/rename/", {"name": "b.txt"})
    a_file(account, "a.txt")
    back = bob.client.post("/files/undo/", {"undo": undo["value"]}, follow=True)
    assert page(back).select(".toast.error")


STRANGE = ["", "renamed:0:file-1:", "renamed:0:file-1/..:x", "renamed:0:file-1:x"]
STRANGE += ["moved:", "deleted:x", "burnt:1", "moved:1,"]


@pytest.mark.parametrize("undo", STRANGE)
def test_a_strange_undo_is_not_found(bob, undo):
    assert bob.client.post("/files/undo/", {"undo": undo}).status_code == 404


@pytest.mark.parametrize("pressed", [{"make": "1"}, {"seek": "1", "find": ""}])
def test_a_new_folder_is_created_and_open_in_the_dialog(bob, account, pressed):
    file, films = a_file(account, "a.txt"), a_folder(account, "Films")
    for headers in (HTMX, {}):
        name = f"New {len(headers)}"
        answer = post(bob, file, to=films.pk, new=name, headers=headers, **pressed)
        made = Folder.objects.get(account=account, name=name)
        assert made.parent == films
        assert form_of(answer)["to"] == [str(made.pk)]
        assert form_of(answer)["new"] == [""]
    post(bob, file, to=made.pk, act="move")
    assert place_of(file) == "Films/New 0"


@pytest.mark.parametrize(
    ("name", "said"), [("Films", "already"), ("a/b", "/"), ("x" * 300, "255"), ("", "")]
)
def test_a_folder_that_cannot_be_created_says_why(bob, account, name, said):
    file = a_file(account, "a.txt")
    a_folder(account, "Films")
    answer = post(bob, file, to=0, make="1", new=name)
    assert Folder.objects.filter(account=account).count() == 2
    if said:
        assert said in words(answer, "#move-error")
        assert form_of(answer)["new"] == [name]


def test_looking_for_a_folder_creates_none(bob, account):
    file = a_file(account, "a.txt")
    a_folder(account, "Films")
    for more in ({}, {"seek": "1"}, {"open": "0"}):
        post(bob, file, to=0, find="Fil", new="Typed before", headers=HTMX, **more)
    assert Folder.objects.filter(account=account).count() == 2
