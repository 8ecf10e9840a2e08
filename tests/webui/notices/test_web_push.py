"""The encryption and the signature of Web Push."""

import time

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from tests.cases import each_case
from tests.webui.notices.receiver import Browser, bytes_of, is_signed, text_of
from webui.notices import web_push

# RFC 8291, appendix A.
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
BROWSER = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
BODY = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6T"
    "lzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4"
    "a-fN"
)


def test_the_example_of_the_rfc_is_encrypted_as_there():
    key = ec.derive_private_key(int.from_bytes(bytes_of(SENDER), "big"), ec.SECP256R1())
    text = b"When I grow up, I want to be a watermelon\x02"
    assert text_of(web_push.seal(text, BROWSER, AUTH, key, bytes_of(SALT))) == BODY


def test_the_browser_reads_messages_that_all_have_one_size():
    browser = Browser()
    form = browser.form("https://push.example/")
    bodies = [
        web_push.encrypt(text, form["key"], form["auth"]) for text in (b"{}", b'{"a": "\xc3\xa4"}')
    ]
    assert [browser.read(body) for body in bodies] == [{}, {"a": "ä"}]
    assert {len(body) for body in bodies} == {86 + 3001 + 16}


def test_the_signature_names_the_push_service_and_expires_within_a_day():
    header = web_push.authorization("https://push.example:444/x?y", "https://ferry.lan/", 1000.5)
    claims = is_signed(header)
    assert claims["aud"] == "https://push.example:444"
    assert claims["sub"] == "https://ferry.lan/"
    assert 1000 < claims["exp"] <= 1000 + 24 * 3600
    assert header.endswith(f", k={web_push.public_key()}")


def test_the_sender_is_named_even_without_https():
    header = web_push.authorization("https://push.example/", "http://localhost/", time.time())
    assert is_signed(header)["sub"].startswith("mailto:")


def test_the_key_depends_on_the_secret_key_alone(settings):
    before = web_push.public_key()
    settings.SECRET_KEY = "another"
    assert web_push.public_key() != before
    assert len(bytes_of(web_push.public_key())) == 65


@each_case("value", ["", "AAAA", text_of(bytes([4] * 65)), "é", "A" * 5])
def test_a_key_that_is_none_is_refused(value):
    form = Browser().form("")
    for keys in ((value, form["auth"]), (form["key"], value)):
        with pytest.raises(ValueError):  # noqa: PT011  Each library has its own words.
            web_push.check_keys(*keys)
