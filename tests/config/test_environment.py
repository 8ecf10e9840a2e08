import ipaddress
import os
import subprocess
import sys
from pathlib import Path

import pytest

from config import settings
from config.environment import Environment, parse_size, read_file
from tests.cases import each_case

BASE = Path(__file__).resolve().parents[2]


@pytest.fixture
def env() -> Environment:
    return Environment(BASE, os.devnull)


def test_an_empty_value_means_the_default(env: Environment, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PORT", " ")
    assert env.integer("PORT", 8000, least=1, most=65535) == 8000


@each_case("raw", ["http", "0", "65536", "-1", "1e3", "８０００ｘ"])
def test_an_invalid_port_is_refused_by_name(env, monkeypatch, raw):
    monkeypatch.setenv("PORT", raw)
    with pytest.raises(SystemExit, match=r"^PORT: .* whole number from 1 to 65535\.$"):
        env.integer("PORT", 8000, least=1, most=65535)


def test_a_refusal_never_repeats_the_value(env, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "no-such-database://me:s3cret@host/name")
    with pytest.raises(SystemExit) as refusal:
        env.database("DATABASE_URL", {})
    assert "DATABASE_URL" in str(refusal.value)
    assert "s3cret" not in str(refusal.value)


@each_case(("raw", "meant"), [("yes", True), ("TRUE", True), ("0", False)])
def test_flags_are_read_in_the_usual_words(env, monkeypatch, raw, meant):
    monkeypatch.setenv("DEBUG", raw)
    assert env.flag("DEBUG", default=not meant) is meant


def test_a_flag_of_another_word_is_refused(env, monkeypatch):
    monkeypatch.setenv("DEBUG", "maybe")
    with pytest.raises(SystemExit, match="DEBUG: "):
        env.flag("DEBUG", default=False)


@each_case(
    ("raw", "meant"),
    [("Media", ["media"]), ("media, transfers", ["media", "transfers"]), ("none", [])],
)
def test_some_of_several_words_are_read(env, monkeypatch, raw, meant):
    monkeypatch.setenv("WORKER_ROLES", raw)
    assert env.choices("WORKER_ROLES", ["transfers", "media"]) == meant


@each_case("raw", ["10.0.0.5:8001", "[::1]:8001", "worker-1:8001"])
def test_addresses_are_read_as_they_are(env, monkeypatch, raw):
    monkeypatch.setenv("WORKER_ADDRESS", raw)
    assert env.address("WORKER_ADDRESS") == raw


def test_networks_and_single_addresses_may_be_mixed(env, monkeypatch):
    monkeypatch.setenv("TRUSTED_PROXIES", "127.0.0.1, 10.0.0.0/8 ::1")
    assert env.networks("TRUSTED_PROXIES") == [
        ipaddress.ip_network("127.0.0.1/32"),
        ipaddress.ip_network("10.0.0.0/8"),
        ipaddress.ip_network("::1/128"),
    ]


@each_case(
    ("raw", "size"), [("50GB", 50 * 10**9), ("1.5 TB", 1_500_000_000_000), ("800m", 800 * 10**6)]
)
def test_sizes_are_read_as_people_write_them(raw, size):
    assert parse_size(raw) == size


@each_case(
    ("name", "raw", "meant"),
    [("SEED_RATIO", "1.5", 1.5), ("DOWNLOAD_LIMIT", "2M", 2_000_000), ("FETCH_MAX_BYTES", "0", 0)],
)
def test_numbers_and_sizes_are_read(env, monkeypatch, name, raw, meant):
    monkeypatch.setenv(name, raw)
    read = env.decimal(name, 1.0, most=9) if name == "SEED_RATIO" else env.size(name, 1)
    assert read == meant


@pytest.mark.slow
@each_case(
    ("name", "raw"),
    [
        ("SEED_RATIO", "-1"),
        ("SEED_RATIO", "nan"),
        ("SEED_RATIO", "much"),
        ("UPLOAD_LIMIT", "-5"),
        ("UPLOAD_LIMIT", "much"),
        ("TORRENT_PROXY", "socks5://host"),
        ("TORRENT_PROXY", "ftp://host:1"),
        ("TORRENT_PROXY", "host:99999"),
        ("TORRENT_NETWORK", "moon"),
        ("WORKER_ROLES", "transfers,tea"),
        ("WORKER_ADDRESS", "10.0.0.5"),
        ("WORKER_ADDRESS", "http://10.0.0.5:80"),
        ("WORKER_ADDRESS", "10.0.0.5:99999"),
        ("WORKER_ADDRESS", "me@10.0.0.5:80"),
    ],
)
def test_a_wrong_setting_of_transfers_is_refused_by_name(name, raw):
    assert refusal_of(**{name: raw}).startswith(f"{name}: ")


def test_tests_see_no_setting_of_the_developers():
    names = set(settings.env.names) - {"DATABASE_URL", "DATA_DIR", "DEBUG", "PORT"}
    theirs = f"{{name for name in {names!r} if os.environ.get(name) == 'theirs'}}"
    code = f"import os, tests.environment; print({theirs})"
    environment = {**os.environ, **dict.fromkeys(names, "theirs")}
    answer = subprocess.run(
        [sys.executable, "-c", code],
        cwd=BASE,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert names
    assert answer.stdout == "set()\n"


def test_programs_that_tests_start_stop_at_a_sigint_also_in_the_background():
    """A shell starts a background job with SIGINT ignored, and programs inherit that."""
    ask = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {ask!r}])"
    start = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    start += "os.execv(sys.executable, [sys.executable, '-c', sys.argv[1]])"
    said = [
        subprocess.run(
            [sys.executable, "-c", start, each],
            cwd=BASE,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for each in (code, f"import tests.environment; {code}")
    ]
    assert said == ["False\n", "True\n"]


def refusal_of(*prefix: str, **settings: str) -> str:
    """Return what Ferry prints instead of starting."""
    answer = subprocess.run(
        [*prefix, sys.executable, "manage.py", "run"],
        cwd=BASE,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert answer.returncode == 1
    assert answer.stdout == ""
    return answer.stderr


@pytest.mark.slow
@each_case(
    ("name", "raw"),
    [
        ("PORT", "eighty"),
        ("TIME_ZONE", "Atlantis/Capital"),
        ("TIME_ZONE", "Europe"),
        ("LOG_LEVEL", "chatty"),
        ("HOST", "banana..invalid"),
        ("HOST", "198.51.100.7"),
        ("DATABASE_URL", "hush"),
        ("DATABASE_URL", "no-such-database://me:hush@host/name"),
        ("DATABASE_URL", "oracle://me:hush@host/name"),
        ("DATA_DIR", "~hush-is-nobody/data"),
        ("URL_PREFIX", "/a/../hush"),
        ("URL_PREFIX", "/hush?"),
        ("ALLOWED_HOSTS", "https://hush.example"),
        ("ALLOWED_HOSTS", "hush.example:8000"),
        ("ALLOWED_HOSTS", "hu_sh.example"),
        ("ALLOWED_HOSTS", "*"),
        ("METRICS_TOKEN", "hush-hush-hush!-"),
        ("METRICS_TOKEN", "hush-hush-hush-"),
    ],
)
def test_a_wrong_setting_is_one_line_that_keeps_its_secret(name, raw, tmp_path):
    said = refusal_of(**{"DATA_DIR": str(tmp_path), name: raw})
    assert said.startswith(f"{name}: ")
    assert said.count("\n") == 1
    assert "hush" not in said


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["file/data", "with-file-static"])
def test_a_data_folder_that_cannot_be_used_is_one_line(tmp_path, broken):
    (tmp_path / "file").touch()
    (tmp_path / "with-file-static").mkdir()
    (tmp_path / "with-file-static" / "static").touch()
    said = refusal_of(DATA_DIR=str(tmp_path / broken), SECRET_KEY="k" * 50)
    assert said.startswith("DATA_DIR: ")
    assert said.count("\n") == 1


@pytest.mark.slow
def test_a_data_folder_of_another_user_is_refused_with_both_users(tmp_path):
    (tmp_path / "theirs").mkdir(mode=0o500)
    tmp_path.chmod(0o755)
    # Root may write everywhere.
    prefix = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    said = refusal_of(*prefix, DATA_DIR=str(tmp_path / "theirs"))
    user = f"user {os.geteuid()} and group {os.getegid()}"
    assert said.startswith(f"DATA_DIR: Ferry runs as {user}, who may not write to {tmp_path}/")
    assert said.count("\n") == 1


def test_an_empty_key_is_refused_and_left_to_the_owner(tmp_path):
    (tmp_path / "secret_key").write_text("\n")
    said = refusal_of(DATA_DIR=str(tmp_path))
    assert said.startswith("DATA_DIR: ")
    assert "secret_key" in said
    assert (tmp_path / "secret_key").read_text() == "\n"


@each_case(("raw", "meant"), [("664", 0o664), ("0640", 0o640), ("600", 0o600)])
def test_modes_are_read_as_people_write_them(env, monkeypatch, raw, meant):
    monkeypatch.setenv("HANDOVER_MODE", raw)
    assert env.mode("HANDOVER_MODE", 0o664) == meant


@each_case("raw", ["999", "rw-", "777", "044", "4664", "-664"])
def test_modes_with_which_ferry_could_not_work_are_refused(env, monkeypatch, raw):
    monkeypatch.setenv("HANDOVER_MODE", raw)
    with pytest.raises(SystemExit, match="HANDOVER_MODE: "):
        env.mode("HANDOVER_MODE", 0o664)


def test_groups_are_read_by_name_or_number(env, monkeypatch):
    monkeypatch.setenv("HANDOVER_GROUP", "root")
    assert env.group("HANDOVER_GROUP") == 0
    monkeypatch.setenv("HANDOVER_GROUP", "12345")
    assert env.group("HANDOVER_GROUP") == 12345
    monkeypatch.setenv("HANDOVER_GROUP", "no such group")
    with pytest.raises(SystemExit, match="HANDOVER_GROUP: "):
        env.group("HANDOVER_GROUP")


def test_a_folder_for_others_has_an_absolute_path(env, monkeypatch):
    assert env.folder("HANDOVER_DIR") is None
    monkeypatch.setenv("HANDOVER_DIR", "/srv/media")
    assert env.folder("HANDOVER_DIR") == Path("/srv/media")
    monkeypatch.setenv("HANDOVER_DIR", "media")
    with pytest.raises(SystemExit, match="HANDOVER_DIR: "):
        env.folder("HANDOVER_DIR")


def test_a_relative_path_starts_beside_manage_py(env, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", "elsewhere/data")
    assert env.path("DATA_DIR", tmp_path) == BASE / "elsewhere" / "data"


def test_an_ipv6_address_may_stand_in_brackets(env, monkeypatch):
    monkeypatch.setenv("HOST", "[::1]")
    assert env.host("HOST", "0.0.0.0") == "::1"


def test_allowed_hosts_are_compared_in_small_letters(env, monkeypatch):
    monkeypatch.setenv("ALLOWED_HOSTS", "Ferry.Example, .Home.example., 192.0.2.1,")
    assert env.host_names("ALLOWED_HOSTS") == ["ferry.example", ".home.example", "192.0.2.1"]


def test_a_prefix_has_one_slash_before_each_part(env, monkeypatch):
    monkeypatch.setenv("URL_PREFIX", "home//ferry/")
    assert env.prefix("URL_PREFIX") == "/home/ferry"


@pytest.fixture
def read(tmp_path):
    """Return a function that parses a `.env` with the given bytes."""

    def read(raw: bytes) -> dict[str, str]:
        file = tmp_path / ".env"
        file.write_bytes(raw)
        return read_file(file)

    return read


def test_an_env_file_that_cannot_be_looked_for_is_absent(tmp_path):
    """Root can look everywhere, but not for a name as long as this."""
    assert Environment(tmp_path / ("x" * 300)).names == []


def test_the_env_file_fills_in_what_the_environment_leaves_open(tmp_path, monkeypatch):
    (tmp_path / ".env").write_text("FERRY_TEST_A=from file\nFERRY_TEST_B=from file\n")
    monkeypatch.setenv("FERRY_TEST_A", "from environment")
    monkeypatch.setenv("FERRY_TEST_B", "")
    monkeypatch.delenv("FERRY_TEST_B")
    env = Environment(tmp_path)
    assert env.text("FERRY_TEST_A") == "from environment"
    assert env.text("FERRY_TEST_B") == "from file"


@each_case(
    ("line", "value"),
    [
        ("A=hush", "hush"),
        ("A = hush", "hush"),
        ("  export A=hush\r", "hush"),
        ("A='hush # hush'", "hush # hush"),
        ('A = "it\'s" # a comment', "it's"),
        ("A=hush # a comment", "hush"),
        ("A=hu#sh", "hu#sh"),
        ("A= # a comment", ""),
        ("A=postgres://me:p=w@host/name?a=b", "postgres://me:p=w@host/name?a=b"),
        ("A=", ""),
    ],
)
def test_a_line_of_the_env_file_is_read_as_people_write_it(read, line, value):
    assert read(f"# Ferry\n\n{line}\n".encode()) == {"A": value}


def test_a_byte_order_mark_does_not_hide_the_first_name(read):
    assert read(b"\xef\xbb\xbfPORT=21050\r\n") == {"PORT": "21050"}


@each_case(
    "line", ["SECRET:hush", "hush", "2A=hush", "A B=hush", "A='hush", 'A="hush" hush', "A=hu\0sh"]
)
def test_a_line_that_cannot_be_read_is_named_and_never_shown(read, line):
    with pytest.raises(SystemExit) as refusal:
        read(f"PORT=8000\n\n{line}\n".encode())
    assert str(refusal.value).startswith(".env line 3: ")
    assert "hush" not in str(refusal.value)


def test_an_env_file_in_another_encoding_is_one_line(read):
    with pytest.raises(SystemExit, match=r"^\.env: cannot read this file as text in UTF-8\.$"):
        read("SECRET_KEY=hush".encode("utf-16"))


def test_an_env_file_that_is_named_must_be_there(tmp_path):
    Environment(tmp_path)
    with pytest.raises(SystemExit, match=r"^my\.env: "):
        Environment(tmp_path, "my.env")
