"""XML that programs send, and strangers' XML, which must cost nothing."""

import pytest

from tests.cases import each_case
from tests.webui.drive.programs import program_of
from webui.drive.bodies import MOST_XML_BYTES

pytestmark = pytest.mark.django_db
PROPFIND = '<propfind xmlns="DAV:"><prop><displayname/></prop></propfind>'
BOMB = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    '<propfind xmlns="DAV:"><prop><displayname>&b;</displayname></prop></propfind>'
)
LONG_NAME = f"<{'a' * 99}/>"
HOSTILE = {
    "a DTD": f"<!DOCTYPE propfind>{PROPFIND}",
    "an external DTD": f'<!DOCTYPE x SYSTEM "http://127.0.0.1/x">{PROPFIND}',
    "entities": BOMB,
    "an external entity": BOMB.replace('"aaaaaaaaaa"', 'SYSTEM "file:///etc/passwd"'),
    "an undefined entity": PROPFIND.replace("<displayname/>", "&x;"),
    "depth": "<a>" * 5_000 + "</a>" * 5_000,
    "elements": f'<propfind xmlns="DAV:"><prop>{"<a/>" * 9_000}</prop></propfind>',
    "properties": f'<propfind xmlns="DAV:"><prop>{"<a/>" * 101}</prop></propfind>',
    "a long namespace": PROPFIND.replace("<displayname/>", f'<a xmlns="{"n" * 301}"/>'),
    "long names": f'<propfind xmlns="DAV:"><prop>{LONG_NAME * 90}</prop></propfind>',
    "long names beside all": (
        f'<propfind xmlns="DAV:"><allprop/><include>{LONG_NAME * 90}</include></propfind>'
    ),
    "no XML": "\x00\x01",
    "an unknown encoding": f'<?xml version="1.0" encoding="hex"?>{PROPFIND}',
    "half": PROPFIND[:30],
    "two": PROPFIND * 2,
    "another element": "<x/>",
    "no namespace": "<propfind><prop/></propfind>",
    "an empty prefix": '<D:propfind xmlns:D="DAV:"><D:prop xmlns:x=""/></D:propfind>',
}


@each_case("body", HOSTILE.values())
@each_case("method", ["PROPFIND", "PROPPATCH", "LOCK"])
def test_hostile_xml_is_400(method, body, bob, own_service):
    assert program_of(bob.user)(method, "", body, depth="0").status == 400


@each_case("values", ["<a/>" * 101, LONG_NAME * 90])
def test_many_or_long_properties_are_not_set(values, bob, own_service):
    body = f'<propertyupdate xmlns="DAV:"><set><prop>{values}</prop></set></propertyupdate>'
    assert program_of(bob.user)("PROPPATCH", "", body).status == 400


def test_a_long_body_is_refused(bob, own_service):
    body = PROPFIND + " " * MOST_XML_BYTES
    assert program_of(bob.user)("PROPFIND", "", body, depth="0").status == 413


@each_case("encoding", ["utf-8", "utf-16", "latin-1"])
def test_xml_is_read_in_its_encoding(encoding, bob, own_service):
    body = f'<?xml version="1.0" encoding="{encoding}"?>{PROPFIND}'.encode(encoding)
    assert program_of(bob.user)("PROPFIND", "", body, depth="0").status == 207
