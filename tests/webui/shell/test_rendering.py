"""Equal screens are rendered once, and each person still gets their own."""

import pytest
from django.contrib.messages import success
from django.template.loader import render_to_string

from tests.people import make_person, page, signed_in
from webui.files import screen as files_screen
from webui.models import Role
from webui.shell import rendering

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def rendered(monkeypatch) -> list[str]:
    """Return the template of each screen that was rendered again, once per rendering."""
    names: list[str] = []

    def render(template: str, context: dict[str, object]) -> str:
        names.append(template)
        return render_to_string(template, context)

    rendering.html_of.cache_clear()
    monkeypatch.setattr(rendering, "render_to_string", render)
    return names


def person_of(answer) -> str:
    return page(answer).body["data-person"]


def test_people_who_see_the_same_share_one_rendering(gwen, storage, rendered):
    storage.file("Sintel.mkv")
    guest = make_person("gil", Role.GUEST)
    first, second = (person.client.get("/") for person in (gwen, guest))
    assert rendered == ["files/show.html"]
    assert person_of(first) != person_of(second)
    token, other = (
        page(answer).select_one("[name=csrfmiddlewaretoken]") for answer in (first, second)
    )
    assert token["value"] != other["value"]
    for answer in (first, second):
        assert rendering.TOKEN not in answer.text
        assert rendering.PERSON not in answer.text


def test_a_shared_rendering_has_a_token_that_works(bob, storage):
    bob.client.get("/")
    strict = signed_in(bob.user)
    strict.handler.enforce_csrf_checks = True
    token = page(strict.get("/")).select_one("#new-folder [name=csrfmiddlewaretoken]")["value"]
    form = {"name": "Films", "csrfmiddlewaretoken": token}
    assert strict.post("/files/0/new/", form).status_code == 302
    assert strict.post("/files/0/new/", form | {"csrfmiddlewaretoken": "x" * 64}).status_code == 403


def test_a_page_is_rendered_again_when_its_data_changes(bob, gwen, storage, rendered):
    storage.file("Sintel.mkv")
    bob.client.get("/")
    bob.client.get("/?sort=-name")
    gwen.client.get("/")
    bob.client.cookies["ferry_theme_8000"] = "dark"
    bob.client.get("/")
    bob.client.get("/", headers={"accept-language": "de"})
    storage.file("Spring.mkv")
    assert "Spring" in bob.client.get("/").text
    assert len(rendered) == 6


def test_a_message_shows_once(bob, storage, monkeypatch):
    page_of = files_screen.page_of

    def with_message(request, *arguments, **options):
        success(request, "Deleted")
        return page_of(request, *arguments, **options)

    bob.client.get("/")
    with monkeypatch.context() as patch:
        patch.setattr(files_screen, "page_of", with_message)
        assert "Deleted" in page(bob.client.get("/")).select_one("#toasts").text
    assert "Deleted" not in bob.client.get("/").text


def test_a_screen_with_all_entries_is_not_cached(bob, storage, rendered):
    storage.many(150)
    assert len(page(bob.client.get("/?all=1")).select("tr[id]")) == 150
    assert rendered == []
