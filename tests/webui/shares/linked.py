"""Links to pages, as Bob makes them and strangers open them."""

from urllib.parse import urlsplit

from tests.people import Stranger, page, words

TERMS = {"make": "1", "purpose": "see", "lasts": "week"}


def stranger(**headers):
    return Stranger(headers={"host": "localhost", **headers})


def make_link(person, folder="0", entries=(), **terms):
    """Return the path of a new link's page."""
    form = TERMS | {"entry": list(entries)} | terms
    answer = person.client.post(f"/files/{folder}/share/", form)
    assert answer.status_code == 200, words(answer, "main")
    return urlsplit(page(answer).select_one(".pairing input")["value"]).path
