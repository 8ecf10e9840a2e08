"""A form sent after its session ended: the person who typed it gets it back after signing in."""

import secrets
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from tests.cases import each_case
from tests.people import PASSWORD, SignedIn, page, words
from tests.webui.uploads import test_form as upload_views
from webui.http import known_devices

pytestmark = pytest.mark.django_db

MAGNET = "magnet:?xt=urn:btih:08ada5a7a6183aae1e09d831df6748d566095a10"
NEW = "/files/0/new/"
# The URL, the typed fields, and what a field contains after the sign-in.
FORMS = {
    "a new folder": (NEW, {"name": "Herring <b>& harbors"}, ("name", "Herring <b>& harbors")),
    "a code": ("/account/pair/code/", {"code": "WXYZ-1234"}, ("code", "WXYZ-1234")),
    "a token": ("/account/tokens/", {"name": "printer"}, ("name", "printer")),
    "a service": ("/account/connection/", {"url": "x.example"}, ("url", "x.example")),
    "a list": ("/transfers/send/", {"text": "\nOne\nSecond line"}, ("text", "\nOne\nSecond line")),
    "chosen links": (
        "/add/",
        {"line": [MAGNET, "Second line"]},
        ("text", f"{MAGNET}\nSecond line"),
    ),
}


def browser_of(person: SignedIn) -> Client:
    """Return a browser whose session has ended, but which the site knows as this person's."""
    browser = Client(headers={"host": "localhost:8000"}, enforce_csrf_checks=True)
    browser.cookies[known_devices.COOKIE] = known_devices.cookie_of(person.user)
    return browser


def token_of(browser: Client) -> str:
    return page(browser.get("/signin/")).select_one("[name=csrfmiddlewaretoken]")["value"]


def send(browser: Client, path: str, fields: dict[str, object], **headers: str) -> HttpResponse:
    form = urlencode({"csrfmiddlewaretoken": token_of(browser), **fields}, doseq=True)
    kind = "application/x-www-form-urlencoded"
    return browser.post(path, form, content_type=kind, headers=headers)


def sign_in(browser: Client, late: HttpResponse, name: str, password: str) -> HttpResponse:
    form = page(late).select_one("main form")
    fields = {each["name"]: each.get("value", "") for each in form.select("input")}
    return browser.post(form["action"], {**fields, "username": name, "password": password})


def test_a_list_of_a_thousand_links_is_restored(alice, storage):
    browser = browser_of(alice)
    links = [f"magnet:?xt=urn:btih:{secrets.token_hex(20)}&dn={'x' * 100}" for _link in range(1000)]
    fields = {"csrfmiddlewaretoken": token_of(browser), "text": "\r\n".join(links)}
    body = upload_views.body_of(fields=fields.items())
    late = upload_views.send(browser, body, path="/transfers/send/")
    assert "Sign in, and Ferry will restore what you typed" in words(late, "main")
    back = sign_in(browser, late, "alice", PASSWORD)
    assert page(back).select_one("main textarea").get_text().splitlines()[-1000:] == links


@each_case("what", FORMS)
def test_form_input_is_restored_after_signing_in(alice, storage, what):
    path, typed, (name, value) = FORMS[what]
    browser = browser_of(alice)
    late = send(browser, path, typed)
    assert late.status_code == 403
    assert words(late, "h1") == "Sign in"
    assert value.splitlines()[-1] not in late.content.decode()
    wrong = sign_in(browser, late, "alice", "wrong")
    assert wrong.status_code == 422
    back = sign_in(browser, wrong, "alice", PASSWORD)
    assert words(back, "h1") == "Not sent yet"
    form = page(back).select_one("main form")
    field = form.select_one(f"[name={name}]")
    assert form["action"] == path
    assert field.get("value", field.get_text().removeprefix("\n")) == value


def test_it_is_sent_from_there(alice, storage):
    browser = browser_of(alice)
    back = sign_in(browser, send(browser, NEW, {"name": "Herring"}), "alice", PASSWORD)
    token = page(back).select_one("main [name=csrfmiddlewaretoken]")["value"]
    browser.post(NEW, {"name": "Herring", "csrfmiddlewaretoken": token})
    assert "Herring" in [each.name for each in storage.fake.items.values()]


def test_no_one_else_sees_the_form_input(alice, bob, storage):
    browser = browser_of(alice)
    answer = sign_in(browser, send(browser, NEW, {"name": "Herring"}), "bob", PASSWORD)
    assert answer.status_code == 302
    assert "Herring" not in answer.content.decode()


def test_passwords_are_not_restored(alice, storage):
    browser = browser_of(alice)
    late = send(browser, "/account/connection/", {"url": "x.example", "password": "herring"})
    assert page(sign_in(browser, late, "alice", PASSWORD)).select("[name=password]") == []


def test_too_large_a_selection_is_refused_with_an_explanation(alice, storage):
    answer = send(browser_of(alice), "/add/", {"text": secrets.token_hex(60_000)})
    assert answer.status_code == 403
    assert "Ferry didn't add anything" in words(answer, "main")


def test_chosen_files_are_named(alice, storage):
    browser = browser_of(alice)
    fields = {"csrfmiddlewaretoken": token_of(browser), "text": MAGNET}
    late = browser.post("/add/", {**fields, "file": SimpleUploadedFile("Film <1>.torrent", b"d")})
    back = sign_in(browser, late, "alice", PASSWORD)
    assert "choose these again: Film <1>.torrent" in words(back, "main form")


@each_case("why", ["another site's", "a stranger's", "nothing typed"])
def test_other_forms_are_not_restored(alice, storage, why):
    browser = browser_of(alice)
    fields: dict[str, object] = {"name": "Herring"}
    if why == "nothing typed":
        fields = {"entry": "file-7"}
    if why == "a stranger's":
        browser.cookies[known_devices.COOKIE] = "guess"
    is_forged = why == "another site's"
    answer = browser.post(NEW, fields) if is_forged else send(browser, NEW, fields)
    assert "unsent" not in answer.content.decode()
    assert answer.status_code in (302, 403)


@each_case(
    "referer", ["http://localhost:8000/account/?a=b", "https://evil.example/account/?a=b", ""]
)
def test_signing_in_leads_back_to_the_page_of_the_form(alice, storage, referer):
    """The URL that receives a form may not answer GET."""
    answer = send(browser_of(alice), "/account/language/", {}, referer=referer)
    wanted = parse_qs(urlsplit(answer["Location"]).query)["next"]
    is_ours = "localhost" in referer
    assert wanted == ["/account/?a=b" if is_ours else "/account/language/"]
