"""Deletions at services that restore nothing: held back until their undo has expired."""

import random
import re
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from tests.cases import each_case
from tests.people import page, words
from tests.webui.service import ROOT
from webui.deleting import held_deletes
from webui.deleting.held_deletes import HELD, delete_due
from webui.library import folders
from webui.library.entries import FOLDER
from webui.models import Activity, HeldDelete, Watched

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
KILLED_SHARE, UNDO_SHARE = 0.3, 0.5
LEAST_ENTRIES = 10


class Killed(BaseException):
    """The process ends here."""


def there(foreign):
    return {each.name for each in foreign.fake.items.values() if each.id != ROOT}


def key(item):
    return f"{'folder' if item.content is None else 'file'}-{item.id}"


def delete(person, *items, **headers):
    return person.client.post("/files/0/delete/", {"entry": [*map(key, items)]}, headers=headers)


def undo(person, answer):
    (form,) = page(answer).select(".toast form")
    fields = {each["name"]: each["value"] for each in form.select("input")}
    return person.client.post(form["action"], fields, follow=True)


def later(**by):
    return timezone.now() + (timedelta(**by) or HELD)


def test_a_deleted_entry_is_hidden_at_once_and_deleted_later(bob, foreign):
    file, folder = foreign.file("a.txt"), foreign.folder("Films")
    foreign.file("b.mkv", parent=folder.id)
    foreign.file("kept.txt")
    answer = delete(bob, file, folder, **HTMX)
    assert "2 items deleted" in words(answer, ".toast")
    assert [each["title"] for each in page(answer).select(".entry-name")] == ["kept.txt"]
    assert there(foreign) == {"a.txt", "Films", "b.mkv", "kept.txt"}
    delete_due(later(seconds=9))
    assert there(foreign) == {"a.txt", "Films", "b.mkv", "kept.txt"}
    delete_due(later())
    assert there(foreign) == {"kept.txt"}
    assert not HeldDelete.objects.exists()
    assert "a.txt" not in bob.client.get("/").content.decode()


def test_undo_restores_the_entry_with_and_without_scripts(bob, foreign):
    file = foreign.file("a.txt")
    for headers in (HTMX, {}):
        answer = delete(bob, file, **headers)
        answer = answer if headers else bob.client.get(answer["Location"])
        back = undo(bob, answer)
        assert "1 item restored" in words(back, "#toasts")
        assert page(back).select("#listing [title='a.txt']")
    delete_due(later())
    assert there(foreign) == {"a.txt"}
    assert Activity.objects.filter(kind="undeleted").count() == 2


def test_a_late_undo_says_so(bob, foreign):
    answer = delete(bob, foreign.file("a.txt"), **HTMX)
    delete_due(later())
    assert "nothing left to undo" in words(undo(bob, answer), "#toasts")


def test_marks_of_films_stay_until_then(bob, foreign):
    film = foreign.file("a.mkv")
    bob.client.get("/")
    bob.client.post(f"/watch/{film.id}/", {"at": "600", "of": "3600", "folder": "0"})
    undo(bob, delete(bob, film, **HTMX))
    assert Watched.objects.exists()
    delete(bob, film)
    delete_due(later())
    assert not Watched.objects.exists()


def test_an_unreachable_service_deletes_when_it_is_back(bob, foreign):
    file = foreign.file("a.txt")
    delete(bob, file)
    foreign.fails(f"/rest/file/{file.id}", 503)
    delete_due(later())
    assert HeldDelete.objects.exists()
    assert "a.txt" not in bob.client.get("/").content.decode()
    foreign.is_back()
    delete_due(later(minutes=2))
    assert not there(foreign)


def test_a_held_deletion_can_be_undone_while_the_service_fails(bob, foreign):
    file = foreign.file("a.txt")
    answer = delete(bob, file, **HTMX)
    foreign.fails(f"/rest/file/{file.id}", 500)
    delete_due(later())
    assert "1 item restored" in words(undo(bob, answer), "#toasts")
    delete(bob, file)
    foreign.fails(f"/rest/file/{file.id}", 500)
    delete_due(later())
    delete_due(later(days=2))
    assert there(foreign) == {"a.txt"}
    assert "a.txt" in bob.client.get("/").content.decode()
    assert Activity.objects.filter(kind="not_deleted").get().subject == "a.txt"


def test_nothing_reappears_while_others_are_deleted(bob, foreign, monkeypatch):
    files = [foreign.file(f"{number}.txt") for number in range(3)]
    delete(bob, *files)
    bob.client.get("/")
    seen = []

    def look(service, row):
        delete_one(service, row)
        seen.append([each["title"] for each in page(bob.client.get("/")).select(".entry-name")])

    delete_one = held_deletes.delete_one
    # Another request arrives in between.
    monkeypatch.setattr(held_deletes, "delete_one", look)
    delete_due(later())
    assert seen == [[], [], []]


def test_only_the_same_name_is_deleted_before_its_time(bob, foreign):
    delete(bob, foreign.file("a.txt"), foreign.file("b.txt"))
    bob.client.post("/files/0/new/", {"name": "A.txt"})
    assert there(foreign) == {"A.txt", "b.txt"}


def test_items_that_are_already_gone_count_as_deleted(bob, foreign):
    file = foreign.file("a.txt")
    delete(bob, file)
    foreign.fails(f"/rest/file/{file.id}", 404, "not_found")
    delete_due(later())
    assert not HeldDelete.objects.exists()
    assert not Activity.objects.filter(kind="not_deleted").exists()


def test_items_that_the_service_refuses_to_delete_reappear_and_are_named(bob, alice, foreign):
    file, other = foreign.file("a.txt"), foreign.file("b.txt")
    delete(bob, file, other)
    foreign.fails(f"/rest/file/{file.id}", 403, "not_yours")
    foreign.fails(f"/rest/file/{file.id}/delete", 403, "not_yours")
    delete_due(later())
    assert there(foreign) == {"a.txt"}
    assert "a.txt" in bob.client.get("/").content.decode()
    log = alice.client.get("/account/activity/").content.decode()
    assert "The storage service didn&#x27;t delete a.txt" in log


def test_another_connection_has_its_own(bob, foreign):
    delete(bob, foreign.file("a.txt"))
    HeldDelete.objects.update(service="another")
    delete_due(later())
    assert HeldDelete.objects.exists()
    delete_due(later(days=31))
    assert not HeldDelete.objects.exists()
    assert there(foreign) == {"a.txt"}


@pytest.mark.slow
def test_thousands_are_hidden_at_once(bob, foreign):
    foreign.many(3_000)
    before = len(foreign.calls)
    bob.client.post("/files/0/delete/", {"all": "1"})
    assert HeldDelete.objects.count() == 3_000
    assert len(foreign.calls) - before < 5


def test_a_name_that_was_deleted_is_free_at_once(bob, foreign):
    folder, file = foreign.folder("Films"), foreign.file("a.txt")
    other = foreign.file("b.txt")
    delete(bob, folder, file)
    bob.client.post("/files/0/new/", {"name": "Films"})
    assert HeldDelete.objects.get().name == "a.txt"
    assert there(foreign) == {"Films", "a.txt", "b.txt"}
    delete(bob, next(each for each in foreign.fake.items.values() if each.name == "Films"))
    form = {"name": "Films", "confirmed": ""}
    assert bob.client.post(f"/files/0/file-{other.id}/rename/", form).status_code == 302
    assert there(foreign) == {"Films", "a.txt"}


# A model


def older(fake):
    """Make it a service that knows only the older forms of v1."""
    newer = fake.answer

    def answer(request, path):
        if request.method == "DELETE" or re.fullmatch(r"/rest/file/\d+/rename", path):
            return httpx.Response(405, json={"result": False, "error": "method_not_allowed"})
        return newer(request, path)

    fake.answer = answer


class Visitor:
    """Someone who deletes and renames at random, and undoes most of it."""

    def __init__(self, foreign, seed):
        self.foreign, self.chance, self.now = foreign, random.Random(seed), timezone.now()
        self.undoing = []
        self.expected = {each.key: each.name for each in self.shown()}
        self.deaths = 0

    def shown(self):
        reading = folders.read(self.foreign.service, "0", now=self.now, at_once=True)
        return [*reading.snapshot.contents.entries]

    def add(self):
        name = f"new {self.chance.randrange(10**9)}"
        item = self.foreign.file(name) if self.chance.random() < 0.5 else self.foreign.folder(name)
        self.expected[key(item)] = name

    def delete(self):
        entries = self.shown()
        while len(entries) < LEAST_ENTRIES:
            self.add()
            entries = self.shown()
        chosen = self.chance.sample(entries, self.chance.randint(1, 3))
        batch = held_deletes.hold(self.foreign.service, "0", chosen, self.now)
        due = self.now + HELD
        self.undoing.append((due, lambda: held_deletes.undo(self.foreign.service, batch), chosen))

    def rename(self):
        entry = self.chance.choice(self.shown())
        name = f"{self.chance.randrange(10**9)}"
        self.change_name(entry, name)
        self.change_name(entry, entry.name)

    def change_name(self, entry, name):
        v1 = self.foreign.service.v1
        (v1.rename_folder if entry.kind == FOLDER else v1.rename_file)(entry.id, name)
        self.foreign.fake.revision += 1

    def undo(self):
        due, act, chosen = self.undoing.pop(self.chance.randrange(len(self.undoing)))
        names = act()
        if due > self.now or names:
            assert sorted(names) == sorted(entry.name for entry in chosen)
        else:
            for entry in chosen:
                del self.expected[entry.key]

    def work(self):
        """Do as the worker does. Some are killed once the service has deleted an entry."""
        self.now += timedelta(seconds=self.chance.uniform(0, 12))
        if self.chance.random() < KILLED_SHARE:
            delete = self.foreign.fake.answer

            def answer(request, path):
                done = delete(request, path)
                if "file" in path or "folder/" in path:
                    raise Killed
                return done

            self.foreign.fake.answer = answer
            try:
                delete_due(self.now)
            except Killed:
                self.deaths += 1
            finally:
                self.foreign.fake.answer = delete
        delete_due(self.now)
        self.foreign.fake.revision += 1


@pytest.mark.parametrize("actions", [300, pytest.param(10_000, marks=pytest.mark.slow)])
@each_case("generation", [lambda _fake: None, older])
def test_nothing_is_removed_early_or_left_behind(foreign, generation, actions):
    foreign.renew()
    generation(foreign.fake)
    for number in range(20):
        foreign.folder(f"Folder {number}") if number % 3 else foreign.file(f"{number}.txt")
    visitor = Visitor(foreign, actions)
    for _action in range(actions):
        act = visitor.chance.choice([visitor.delete, visitor.rename, visitor.work])
        act()
        if visitor.undoing and visitor.chance.random() < UNDO_SHARE:
            visitor.undo()
    visitor.now += 2 * HELD
    while visitor.undoing:
        visitor.undo()
    delete_due(visitor.now)
    assert {each.key: each.name for each in visitor.shown()} == visitor.expected
    assert there(foreign) == set(visitor.expected.values())
    assert visitor.deaths
    assert not HeldDelete.objects.exists()
