"""/rest/deleted: delete, list, restore, and delete for good."""

import json

from django.db import connection
from django.test.utils import CaptureQueriesContext

from service.accounts import accounts
from service.models import DeletedItem, File
from tests.cases import each_case
from tests.service.api.reading import word
from tests.service.builders import a_file, a_folder, a_tree

PATH = "/rest/deleted"


def entries(*rows) -> dict[str, str]:
    named = [{"type": type(row).__name__.lower(), "id": row.pk} for row in rows]
    return {"archive_arr": json.dumps(named)}


def names(api) -> list[str]:
    root = api.get("/rest/folder").json()
    return [each["name"] for each in (*root["folders"], *root["files"])]


def test_items_deleted_together_are_restored_together(api, account):
    folder, file = a_folder(account, "Films"), a_file(account, "a.txt")
    deletion = api.post(PATH, data=entries(folder, file)).json()
    assert deletion["count"] == 2
    assert names(api) == []
    listed = api.get(PATH).json()
    assert {each["name"]: each["type"] for each in listed["items"]} == {
        "Films": "folder",
        "a.txt": "file",
    }
    assert (listed["size"], listed["days"], listed["has_more"]) == (10, 30, False)
    restored = api.post(f"{PATH}/restore", data={"batch": deletion["batch"]}).json()["items"]
    assert {each["entry_id"] for each in restored} == {folder.pk, file.pk}
    assert names(api) == ["Films", "a.txt"]
    assert api.get(PATH).json()["items"] == []


def test_some_of_it_is_restored_and_the_rest_is_deleted_for_good(api, account):
    first, second, third = (a_file(account, name) for name in ("a.txt", "b.txt", "c.txt"))
    api.post(PATH, data=entries(first, second, third))
    id_of = {each["name"]: each["id"] for each in api.get(PATH).json()["items"]}
    api.post(f"{PATH}/restore", data={"ids": f"{id_of['a.txt']}, {id_of['b.txt']}"})
    assert names(api) == ["a.txt", "b.txt"]
    assert api.post(f"{PATH}/delete", data={"all": 1}).json()["count"] == 1
    assert api.get(PATH).json()["size"] == 0
    assert api.get("/rest/user").json()["space_used"] == 20


def test_a_stranger_reaches_nothing_of_it(api, account, stranger):
    file = a_file(account, "a.txt")
    assert stranger.post(PATH, data=entries(file)).json()["count"] == 0
    batch = api.post(PATH, data=entries(file)).json()["batch"]
    for what in ({"batch": batch}, {"all": 1}, {"ids": str(batch)}):
        assert stranger.post(f"{PATH}/restore", data=what).json()["items"] == []
        assert stranger.post(f"{PATH}/delete", data=what).json()["count"] == 0
    assert stranger.get(PATH).json()["items"] == []
    assert DeletedItem.objects.count() == 1


def test_nothing_is_restored_unless_it_is_named(api, account):
    api.post(PATH, data=entries(a_file(account, "a.txt")))
    assert api.post(f"{PATH}/restore", data={}).json()["items"] == []
    assert api.post(f"{PATH}/delete", data={}).json()["count"] == 0


@each_case("sent", [{"ids": "1,x"}, {"ids": ","}, {"ids": ",".join(["1"] * 1001)}, {"batch": "-1"}])
def test_unreadable_input_is_refused(sent, api):
    for action in ("restore", "delete"):
        assert word(api.post(f"{PATH}/{action}", data=sent))[0] == 422


def test_v1_still_deletes_for_good(api, account):
    file = a_file(account, "a.txt")
    api.delete(f"/rest/file/{file.pk}")
    assert api.get(PATH).json()["items"] == []
    assert not File.objects.exists()


def test_v1_deletes_so_that_it_can_be_restored_if_the_account_says_so(api, account):
    accounts.set_keeps_deleted(account, keeps_deleted=True)
    file, folder = a_file(account, "a.txt"), a_tree(account, "Films", ["b.mkv"])
    for path in (f"/rest/file/{file.pk}", f"/rest/folder/{folder.pk}"):
        assert api.delete(path).status_code == 200
        assert word(api.delete(path)) == (404, "not_found")
    assert {each["name"] for each in api.get(PATH).json()["items"]} == {"a.txt", "Films"}
    accounts.set_keeps_deleted(account, keeps_deleted=False)
    api.post(f"{PATH}/restore", data={"all": 1})
    api.delete(f"/rest/file/{file.pk}")
    assert api.get(PATH).json()["items"] == []


def test_a_list_takes_as_many_queries_for_many_as_for_few(api, account):
    api.get(PATH)
    with CaptureQueriesContext(connection) as few:
        api.get(PATH)
    folder = a_tree(account, "Photos", [f"{number}.jpg" for number in range(90)])
    api.post(PATH, data=entries(*folder.files.all()))
    with CaptureQueriesContext(connection) as many:
        assert len(api.get(PATH).json()["items"]) == 90
    assert len(many) == len(few)
