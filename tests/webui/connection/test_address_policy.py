from tests.cases import each_case
from webui.connection.address_policy import LinkPolicy

policy = LinkPolicy("https://storage.example/prefix", ["media.lan", "10.9.8.7"])


@each_case(
    "url",
    [
        "https://storage.example/x",
        "http://storage.example:8443/x?st=S",
        "https://STORAGE.example./x",
        "https://rd12.example.net/x",
        "http://media.lan/x",
        "http://10.9.8.7/x",
        "https://93.184.216.34/x",
        "https://[2606:2800:220:1::1]/x",
    ],
)
def test_the_services_own_origin_named_hosts_and_public_places_pass(url):
    assert policy.may_follow(url)


@each_case(
    "url",
    [
        "http://127.0.0.1/",
        "http://0/",
        "http://127.1/",
        "http://0x7f000001/",
        "http://017700000001/",
        "http://2130706433/",
        "http://[::]/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://169.254.169.254/",
        "http://168.63.129.16/",
        "http://[fec0::1]/",
        "http://[3fff::1]/",
        "http://[fd00::1]/",
        "http://100.64.0.1/",
        "http://10.0.0.1/",
        "http://224.0.0.1/",
        "http://localhost/",
        "http://router/",
        "http://nas.local/",
        "http://x.localhost/",
        "http://me:secret@storage.example/",
        "http://me@storage.example/",
        "file:///etc/passwd",
        "gopher://storage.example/",
        "javascript:alert(1)",
        "data:image/png;base64,AAAA",
        "//storage.example/",
        "https://",
        "http://[bad/",
        "http://storage.example:99999/",
        "",
    ],
)
def test_others_are_refused(url):
    assert not policy.may_follow(url)


@each_case(
    ("host", "address", "may"),
    [
        ("storage.example", "192.168.0.9", True),
        ("media.lan", "192.168.0.9", True),
        ("elsewhere.example", "93.184.216.34", True),
        ("elsewhere.example", "192.168.0.9", False),
        ("elsewhere.example", "::ffff:10.0.0.1", False),
        ("elsewhere.example", "fe80::1%eth0", False),
        ("elsewhere.example", "fec0::1", False),
        ("elsewhere.example", "2606:2800:220:1::1", True),
        ("elsewhere.example", "nonsense", False),
    ],
)
def test_each_address_is_checked_on_connecting(host, address, may):
    assert policy.may_connect(host, address) == may
