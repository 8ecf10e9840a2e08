"""/rest/move, /rest/copy, and their undo."""

from tests.cases import each_case
from tests.service.api.reading import word
from tests.service.api.test_deleted_items import entries, names
from tests.service.builders import a_file, a_folder, a_tree


def moved(api, *rows, act: str = "move", **more) -> dict:
    return api.post(f"/rest/{act}", data=entries(*rows) | more).json()


def inside(api, folder) -> list[str]:
    listing = api.get(f"/rest/folder/{folder.pk}").json()
    return [each["name"] for each in (*listing["folders"], *listing["files"])]


def test_a_selection_can_be_moved_and_undone(api, account):
    folder, file, target = (
        a_folder(account, "Films"),
        a_file(account, "a.txt"),
        a_folder(account, "Old"),
    )
    result = moved(api, folder, file, folder_id=target.pk)
    assert (result["count"], result["taken"], result["taken_count"]) == (2, [], 0)
    assert names(api) == ["Old"]
    assert inside(api, target) == ["Films", "a.txt"]
    undone = api.post("/rest/move/undo", data={"batch": result["batch"]}).json()
    assert undone["count"] == 2
    assert target.pk in undone["folder_ids"]
    assert names(api) == ["Films", "Old", "a.txt"]


def test_a_copy_is_made_and_deleted_again(api, account):
    file, target = a_file(account, "a.txt"), a_folder(account, "Old")
    result = moved(api, file, act="copy", folder_id=target.pk)
    assert names(api) == ["Old", "a.txt"]
    assert inside(api, target) == ["a.txt"]
    assert api.get("/rest/user").json()["space_used"] == 20
    api.post("/rest/move/undo", data={"batch": result["batch"]})
    assert inside(api, target) == []
    assert api.get("/rest/user").json()["space_used"] == 10


def test_taken_names_are_reported_before_anything_happens(api, account):
    target = a_tree(account, "Old", ["a.txt", "b.txt"])
    files = [a_file(account, name) for name in ("a.txt", "b.txt", "c.txt")]
    result = moved(api, *files, folder_id=target.pk)
    assert (result["batch"], result["count"], result["taken"]) == (0, 0, ["a.txt", "b.txt"])
    assert moved(api, *files, folder_id=target.pk, if_taken="skip")["count"] == 1
    assert names(api) == ["Old", "a.txt", "b.txt"]


def test_the_root_is_the_folder_by_default(api, account):
    folder = a_tree(account, "Old", ["a.txt"])
    moved(api, *folder.files.all())
    assert names(api) == ["Old", "a.txt"]


@each_case(
    ("sent", "status", "reason"),
    [
        ({"folder_id": 999}, 404, "not_found"),
        ({"folder_id": "x"}, 422, "folder_id_unreadable"),
        ({"if_taken": "burn"}, 422, "if_taken_unreadable"),
        ({"archive_arr": "[]"}, 422, "archive_arr_unreadable"),
    ],
)
def test_impossible_moves_are_refused(sent, status, reason, api, account):
    file = a_file(account, "a.txt")
    for act in ("move", "copy"):
        answer = api.post(f"/rest/{act}", data=entries(file) | sent)
        assert word(answer) == (status, reason)


def test_a_folder_stays_out_of_itself(api, account):
    folder = a_folder(account, "Films")
    answer = api.post("/rest/move", data=entries(folder) | {"folder_id": folder.pk})
    assert word(answer) == (422, "folder_into_itself")


def test_a_stranger_moves_and_undoes_nothing(api, account, stranger):
    file, target = a_file(account, "a.txt"), a_folder(account, "Old")
    assert moved(stranger, file)["count"] == 0
    batch = moved(api, file, folder_id=target.pk)["batch"]
    assert stranger.post("/rest/move/undo", data={"batch": batch}).json()["count"] == 0
    assert inside(api, target) == ["a.txt"]


def test_a_single_entry_gets_another_name_as_it_moves(api, account):
    file, target = a_file(account, "a.txt"), a_folder(account, "Old")
    result = moved(api, file, folder_id=target.pk, name="b.txt")
    assert (names(api), inside(api, target)) == (["Old"], ["b.txt"])
    api.post("/rest/move/undo", data={"batch": result["batch"]})
    assert (names(api), inside(api, target)) == (["Old", "a.txt"], [])


def test_an_entry_gets_another_name_where_it_is(api, account):
    file, folder = a_file(account, "a.txt"), a_tree(account, "Films", ["x.mkv"])
    moved(api, file, name="b.txt")
    result = moved(api, folder, name="Shelf")
    assert names(api) == ["Shelf", "b.txt"]
    moved(api, file, act="copy", name="c.txt")
    assert names(api) == ["Shelf", "b.txt", "c.txt"]
    api.post("/rest/move/undo", data={"batch": result["batch"]})
    assert names(api) == ["Films", "b.txt", "c.txt"]


@each_case("act", ["move", "copy"])
def test_the_new_name_is_the_one_that_may_be_taken(act, api, account):
    target = a_tree(account, f"Old {act}", ["b.txt"])
    file = a_file(account, f"a {act}.txt")
    refused = moved(api, file, act=act, folder_id=target.pk, name="b.txt")
    assert (refused["count"], refused["taken_count"]) == (0, 1)
    moved(api, file, act=act, folder_id=target.pk, name="b.txt", if_taken="replace")
    assert inside(api, target) == ["b.txt"]
    moved(api, a_file(account, "other.txt"), act=act, folder_id=target.pk, name="c.txt")
    assert inside(api, target) == ["b.txt", "c.txt"]


def test_a_new_name_must_be_allowed_and_for_one_entry(api, account):
    files = [a_file(account, "a.txt"), a_file(account, "b.txt")]
    both = api.post("/rest/move", data=entries(*files) | {"name": "c.txt"})
    assert word(both) == (422, "name_unreadable")
    bad = api.post("/rest/move", data=entries(files[0]) | {"name": "a/b"})
    assert word(bad) == (422, "name_not_allowed")
