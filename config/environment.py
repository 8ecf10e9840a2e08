"""Read settings from the environment, and explain wrong values clearly."""

import ipaddress
import os
import re
import secrets
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date
from grp import getgrnam
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn, TypeVar
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import environ
from django.core.exceptions import ImproperlyConfigured

from common.storage import durable

Value = TypeVar("Value")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

ASSIGNMENT = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)")
QUOTED = re.compile(r"""\s*(?:'([^']*)'|"([^"]*)")\s*(?:\s#.*)?""")
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
LABEL = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
HOST_NAME = re.compile(rf"\.?{LABEL}(?:\.{LABEL})*|\[[0-9a-f:.]+\]")
MOST_LABEL_LETTERS = 60  # A number may follow.
PREFIX = re.compile(r"[\w./~-]*", re.ASCII)
TOKEN = re.compile(r"[\w.~-]{16,}", re.ASCII)
# What parsing a wrong value raises.
UNUSABLE = (ValueError, LookupError, RuntimeError, OSError, UserWarning, ImproperlyConfigured)
BYTES_PER_UNIT = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class Environment:
    """A reader of settings from the environment and `.env`, which remembers their names, and those
    that have a value there.

    A wrong value ends the program with one line that names the variable.
    """

    def __init__(self, base: Path, env_file: str | None = None) -> None:
        self.names: list[str] = []
        self.fixed_names: set[str] = set()
        self._base = base
        file = base / (env_file or ".env")
        # `Path.exists` fails in a home that another user has closed.
        if env_file or os.path.exists(file):  # noqa: PTH110
            for name, value in read_file(file).items():
                os.environ.setdefault(name, value)

    def text(self, name: str, default: str = "") -> str:
        return self._read(name, default, str.strip, "")

    def flag(self, name: str, *, default: bool) -> bool:
        words = {"true": True, "yes": True, "on": True, "1": True}
        words |= {"false": False, "no": False, "off": False, "0": False}
        return self._read(name, default, lambda raw: words[raw.lower()], "true or false")

    def integer(self, name: str, default: int, *, least: int, most: int) -> int:
        requirement = f"a whole number from {least} to {most}"
        return self._read(name, default, int, requirement, lambda number: least <= number <= most)

    def decimal(self, name: str, default: float, *, most: int) -> float:
        requirement = f"a number from 0 to {most}"
        return self._read(name, default, float, requirement, lambda number: 0 <= number <= most)

    def size(self, name: str, default: int) -> int:
        return self._read(name, default, parse_size, "a number of bytes such as 500K or 20GB")

    def choice(self, name: str, default: str, choices: Sequence[str]) -> str:
        def parse(raw: str) -> str:
            return choices[[word.lower() for word in choices].index(raw.lower())]

        return self._read(name, default, parse, "one of " + ", ".join(choices))

    def choices(self, name: str, default: Sequence[str]) -> list[str]:
        """Return a list of words, each from the default; `none` gives an empty list."""

        def parse(raw: str) -> list[str]:
            return [] if raw.lower() == "none" else words_of(raw.lower())

        requirement = f"none, or some of {', '.join(default)}"
        return self._read(name, list(default), parse, requirement, set(default).issuperset)

    def path(self, name: str, default: Path | None) -> Any:
        """Read a path. A relative path starts at the folder of `.env`, not the current folder."""

        def parse(raw: str) -> Path:
            return (self._base / Path(raw).expanduser()).resolve()

        return self._read(name, default, parse, "a path")

    def folder(self, name: str) -> Path | None:
        """Read the absolute path of a folder, or None."""
        words = "an absolute path"
        return self._read(name, None, Path, words, lambda path: path is None or path.is_absolute())

    def mode(self, name: str, default: int) -> int:
        """Read the permissions of a file that its owner can read and write, such as 664."""
        words = "a mode such as 664"
        return self._read(
            name, default, lambda raw: int(raw, 8), words, lambda mode: mode & ~0o77 == 0o600
        )

    def group(self, name: str) -> int | None:
        """Read the name or number of a group of this machine, and return its number, or None."""

        def parse(raw: str) -> int:
            return int(raw) if raw.isdecimal() else getgrnam(raw).gr_gid

        return self._read(name, None, parse, "a group of this machine")

    def host(self, name: str, default: str) -> str:
        """Read a host. IPv6 addresses may be in brackets, as they are in URLs."""
        return self._read(name, default, lambda raw: re.sub(r"^\[(.*)\]$", r"\1", raw), "")

    def prefix(self, name: str) -> str:
        def parse(raw: str) -> str:
            if PREFIX.fullmatch(raw) is None or {".", ".."} & set(raw.split("/")):
                raise ValueError
            return "/".join(["", *filter(None, raw.split("/"))])

        return self._read(name, "", parse, "a path such as /ferry, of letters, digits and . _ ~ -")

    def time_zone(self, name: str, default: str) -> str:
        return self._read(name, default, lambda raw: ZoneInfo(raw).key, "a zone: Europe/Berlin")

    def date(self, name: str, default: date) -> date:
        return self._read(name, default, date.fromisoformat, "a date such as 2015-12-14")

    def host_names(self, name: str) -> list[str]:
        def parse(raw: str) -> list[str]:
            return [word.lower().removesuffix(".") for word in words_of(raw)]

        def are_valid(names: list[str]) -> bool:
            return all(map(HOST_NAME.fullmatch, names))

        requirement = "host names without scheme and port, with commas between"
        return self._read(name, [], parse, requirement, are_valid)

    def label(self, name: str, default: str) -> str:
        def is_valid(raw: str) -> bool:
            return re.fullmatch(LABEL, raw) is not None and len(raw) <= MOST_LABEL_LETTERS

        requirement = "off, or a name of up to 60 letters, digits, and hyphens"
        return self._read(name, default, str.lower, requirement, is_valid)

    def secret_url(self, name: str) -> str:
        def is_valid(raw: str) -> bool:
            parts = urlsplit(raw)
            return parts.scheme in ("http", "https") and bool(parts.hostname and parts.username)

        requirement = "https://name:password@host, % encoded where needed"
        return self._read(name, "", str, requirement, is_valid)

    def secret(self, name: str) -> str:
        """Read a secret that strangers may guess at."""
        requirement = "a secret of 16 or more letters, digits and . _ ~ -"
        return self._read(name, "", str, requirement, lambda raw: bool(TOKEN.fullmatch(raw)))

    def origin(self, name: str) -> str:
        def parse(raw: str) -> str:
            parts = urlsplit(raw)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
                raise ValueError
            if parts.path.strip("/") or parts.query or parts.fragment:
                raise ValueError
            return f"{parts.scheme}://{parts.netloc}"

        return self._read(name, "", parse, "https://host, without a path")

    def address(self, name: str) -> str:
        """Read an address of this machine at which others reach it."""

        def is_valid(raw: str) -> bool:
            parts = urlsplit(f"//{raw}")
            has_more = parts.netloc != raw or bool(parts.username)
            return bool(parts.hostname and parts.port) and not has_more

        return self._read(name, "", str, "host:port, such as 10.0.0.5:8001", is_valid)

    def proxy(self, name: str) -> str:
        """Read a URL that may contain a name and a password."""

        def is_valid(raw: str) -> bool:
            parts = urlsplit(raw)
            return parts.scheme in ("socks5", "http") and bool(parts.hostname and parts.port)

        return self._read(name, "", str, "socks5://host:port or http://host:port", is_valid)

    def networks(self, name: str) -> list[Network]:
        def parse(raw: str) -> list[Network]:
            return [ipaddress.ip_network(word, strict=False) for word in words_of(raw)]

        return self._read(name, [], parse, "addresses or networks, with commas between")

    def database(self, name: str, default: dict[str, Any]) -> dict[str, Any]:
        def is_known(options: dict[str, Any]) -> bool:
            return str(options["ENGINE"]).endswith((".sqlite3", ".postgresql"))

        parse = environ.Env.db_url_config
        options = self._read(name, default, parse, "a URL of SQLite or PostgreSQL", is_known)
        if options["ENGINE"].endswith(".postgresql") and not find_spec("psycopg"):
            raise SystemExit(f"{name}: this database needs the Python package psycopg.")
        return options

    def object_store(self, name: str) -> str:
        """Read the URL of a bucket. Its keys are where all S3 clients look for them."""

        def parse(raw: str) -> str:
            # Load this only if Ferry uses an object store.
            from service.store.objects.bucket import Bucket  # noqa: PLC0415

            Bucket.of(raw, os.environ)
            return raw

        requirement = (
            "s3://bucket/prefix?endpoint=https://host, with AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY"
        )
        url = self._read(name, "", parse, requirement)
        if url and not find_spec("obstore"):
            raise SystemExit(f"{name}: an object store needs the Python package obstore.")
        return url

    def cache(self, name: str, default: dict[str, Any]) -> dict[str, Any]:
        return self._read(name, default, environ.Env.cache_url_config, "a cache URL")

    @staticmethod
    def refuse(name: str, requirement: str) -> NoReturn:
        """Exit with an error that never repeats the wrong value, which may be a secret."""
        raise SystemExit(f"{name}: cannot use the value that is set; it must be {requirement}.")

    @classmethod
    def refuse_folder(cls, name: str, folder: Path, trouble: Exception) -> NoReturn:
        """Exit with an error that names the user who may not write there."""
        if not isinstance(trouble, PermissionError):
            cls.refuse(name, "a folder that Ferry may write to")
        user, group = os.geteuid(), os.getegid()
        raise SystemExit(
            f"{name}: Ferry runs as user {user} and group {group}, who may not write to {folder}. "
            f"Make them its owner (chown {user}:{group}), or start Ferry as the user who owns it."
        )

    def _read(
        self,
        name: str,
        default: Value,
        parse: Callable[[str], Value],
        requirement: str,
        is_valid: Callable[[Value], bool] = lambda _value: True,
    ) -> Value:
        self.names.append(name)
        raw = os.environ.get(name, "").strip()
        if not raw:
            return default
        self.fixed_names.add(name)
        with suppress(*UNUSABLE), warnings.catch_warnings():
            # django-environ's warnings repeat the value.
            warnings.simplefilter("error", UserWarning)
            value = parse(raw)
            if is_valid(value):
                return value
        return self.refuse(name, requirement)


def home_of_installed() -> Path:
    """Return the folder for `.env` and data if Ferry is an installed package, following XDG."""
    # Path.expanduser fails for a user without a home, who names DATA_DIR instead.
    data_home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")  # noqa: PTH111
    return Path(data_home) / "ferry"


def read_or_make_key(path: Path) -> str:
    """Return the key stored at `path`, made on first use, readable only by its owner.

    Several processes may start at once: the key appears atomically, and the first process to link
    its file to `path` decides for all.
    """
    try:
        return path.read_text()
    except FileNotFoundError:
        durable.create(path, secrets.token_urlsafe(50).encode())
        return path.read_text()


def read_file(path: Path) -> dict[str, str]:
    """Read a file like `.env`. An error never repeats a line, which may hold a secret."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise SystemExit(f"{path.name}: cannot read this file as text in UTF-8.") from None
    variables: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        try:
            variables.update(assignment(line.strip()))
        except ValueError:
            requirement = "it must be NAME=value or begin with #"
            raise SystemExit(f"{path.name} line {number}: cannot be read; {requirement}.") from None
    return variables


def assignment(line: str) -> dict[str, str]:
    if not line or line.startswith("#"):
        return {}
    match = ASSIGNMENT.fullmatch(line)
    if match is None or CONTROL.search(line):
        raise ValueError
    return {match[1]: unquote(match[2])}


def unquote(raw: str) -> str:
    if raw.lstrip().startswith(("'", '"')):
        match = QUOTED.fullmatch(raw)
        if match is None:
            raise ValueError
        return match[1] or match[2] or ""
    return re.split(r"\s#", raw, maxsplit=1)[0].strip()


def words_of(raw: str) -> list[str]:
    return re.findall(r"[^\s,]+", raw)


def parse_size(raw: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:B|b)?", raw.strip(), re.IGNORECASE)
    if match is None:
        raise ValueError(raw)
    return int(float(match[1]) * BYTES_PER_UNIT[match[2].upper()])
