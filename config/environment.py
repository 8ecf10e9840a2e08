"""The environment, read with a clear word for whoever set a value wrongly."""

import ipaddress
import os
import re
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NoReturn, TypeVar
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import environ

Value = TypeVar("Value")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

BYTES_PER_UNIT = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class Environment:
    """Reads settings from the environment and `.env`, and remembers which were asked for.

    A wrong value ends the program with one line that names the variable.
    """

    def __init__(self, env_file: Path | None = None) -> None:
        self.names: list[str] = []
        if env_file is not None and env_file.is_file():
            environ.Env.read_env(env_file)

    def text(self, name: str, default: str = "") -> str:
        return self._read(name, default, str.strip, "")

    def flag(self, name: str, *, default: bool) -> bool:
        words = {"true": True, "yes": True, "on": True, "1": True}
        words |= {"false": False, "no": False, "off": False, "0": False}
        return self._read(name, default, lambda raw: words[raw.lower()], "true or false")

    def integer(self, name: str, default: int, *, least: int, most: int) -> int:
        def parse(raw: str) -> int:
            number = int(raw)
            if not least <= number <= most:
                raise ValueError
            return number

        return self._read(name, default, parse, f"a whole number from {least} to {most}")

    def number(self, name: str, default: float, *, least: float, most: float) -> float:
        def parse(raw: str) -> float:
            number = float(raw)
            if not least <= number <= most:
                raise ValueError
            return number

        return self._read(name, default, parse, f"a number from {least:g} to {most:g}")

    def size_bytes(self, name: str, default: str) -> int:
        """A size such as `50GB` or `800M`; units are powers of ten."""
        return self._read(name, parse_size(default), parse_size, "a size such as 50GB or 800MB")

    def choice(self, name: str, default: str, choices: Sequence[str]) -> str:
        def parse(raw: str) -> str:
            return choices[[word.lower() for word in choices].index(raw.lower())]

        return self._read(name, default, parse, "one of " + ", ".join(choices))

    def path(self, name: str, default: Path) -> Path:
        return self._read(name, default, lambda raw: Path(raw).expanduser().resolve(), "a path")

    def time_zone(self, name: str, default: str) -> str:
        return self._read(name, default, lambda raw: ZoneInfo(raw).key, "a zone: Europe/Berlin")

    def date(self, name: str, default: date) -> date:
        return self._read(name, default, date.fromisoformat, "a date such as 2015-12-14")

    def words(self, name: str) -> list[str]:
        return self._read(name, [], lambda raw: re.split(r"[\s,]+", raw), "")

    def secret_url(self, name: str) -> str:
        """An address that carries a name and a password."""

        def parse(raw: str) -> str:
            parts = urlsplit(raw)
            if parts.scheme not in ("http", "https") or not parts.hostname or not parts.username:
                raise ValueError
            return raw

        return self._read(name, "", parse, "https://name:password@host, % encoded where needed")

    def networks(self, name: str) -> list[Network]:
        def parse(raw: str) -> list[Network]:
            return [ipaddress.ip_network(word, strict=False) for word in re.split(r"[\s,]+", raw)]

        return self._read(name, [], parse, "addresses or networks, with commas between")

    def database(self, name: str, default: dict[str, Any]) -> dict[str, Any]:
        def parse(raw: str) -> dict[str, Any]:
            found: dict[str, Any] = environ.Env.db_url_config(raw)
            if not found["ENGINE"].startswith("django.db.backends."):
                raise ValueError
            return found

        return self._read(name, default, parse, "a database URL")

    def cache(self, name: str, default: dict[str, Any]) -> dict[str, Any]:
        return self._read(name, default, environ.Env.cache_url_config, "a cache URL")

    def refuse(self, name: str, wanted: str) -> NoReturn:
        """A wrong value never reaches the page of an error: it may be a secret."""
        raise SystemExit(f"{name}: cannot use the value that is set; it must be {wanted}.")

    def _read(self, name: str, default: Value, parse: Callable[[str], Value], wanted: str) -> Value:
        self.names.append(name)
        raw = os.environ.get(name, "").strip()
        if not raw:
            return default
        try:
            return parse(raw)
        except (ValueError, KeyError, environ.ImproperlyConfigured):
            self.refuse(name, wanted)


def parse_size(raw: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:B|b)?", raw.strip(), re.IGNORECASE)
    if match is None:
        raise ValueError(raw)
    return int(float(match[1]) * BYTES_PER_UNIT[match[2].upper()])
