from host.web import unreadable_headers
from tests.cases import each_case

FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"


def left_of(**environ: str) -> dict[str, str]:
    unreadable_headers.drop(environ)
    return environ


@each_case("url", ["http://[", "http://[::", "http%3A//%5B", "//\u2100/"])
def test_a_url_that_cannot_be_split_is_as_if_it_had_not_been_sent(url):
    assert left_of(HTTP_REFERER=url, HTTP_HX_CURRENT_URL=url) == {}


@each_case("url", ["", "http://localhost/files/7/?q=%5B#x", "http://[::1]:8000/", "about:blank"])
def test_a_url_that_can_be_split_stays(url):
    assert left_of(HTTP_REFERER=url) == {"HTTP_REFERER": url}


@each_case(
    ("sent", "read"),
    [
        (f"{MULTIPART}; boundary=x", f"{MULTIPART}; boundary=x"),
        (f"{MULTIPART}; boundary=x; charset=hex", f"{MULTIPART}; boundary=x"),
        (f'{MULTIPART}; charset="a;b"; boundary=x', f"{MULTIPART}; boundary=x"),
        (f"{FORM}; Charset*0=undef; charset*1=ined", FORM),
        (f"{FORM};charset=utf-8", FORM),
        (f"{FORM}; charset", FORM),
        (f"{MULTIPART}; boundary*=nonsense''x", MULTIPART),
        (f"{MULTIPART}; boundary*=x; boundary*0=y", MULTIPART),
        (f"{MULTIPART}; x*=idna''%ff", MULTIPART),
        ("", ""),
        (";", ";"),
    ],
)
def test_a_form_is_read_without_its_charset_and_malformed_parameters(sent, read):
    assert left_of(CONTENT_TYPE=sent) == {"CONTENT_TYPE": read}
