"""How one service wants to be spoken to, where v1 has two forms for the same operation."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self

Naming = Literal["transfer", "torrent"]
Form = Literal["primary", "alternative"]

NAMINGS: tuple[Naming, ...] = ("transfer", "torrent")
FORMS: tuple[Form, ...] = ("primary", "alternative")


@dataclass(frozen=True, slots=True)
class Dialect:
    """None means that nothing is decided yet. A decision is made once per connection and kept:
    whoever wants it to outlive the process stores `as_dict()` and gives `from_dict()` back."""

    naming: Naming | None = None
    folder_delete: Form | None = None
    file_delete: Form | None = None
    transfer_delete: Form | None = None
    file_rename: Form | None = None
    file_add: Form | None = None
    thumbnail: Form | None = None

    @classmethod
    def ours(cls) -> Self:
        """Our own service knows the primary forms; nothing is left to find out."""
        return cls("transfer", "primary", "primary", "primary", "primary", "primary", "primary")

    def as_dict(self) -> dict[str, str]:
        return {key: value for key, value in asdict(self).items() if value is not None}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """What cannot be read is decided anew."""
        allowed = {field.name: FORMS for field in fields(cls)} | {"naming": NAMINGS}
        return cls(**{key: stored[key] for key in allowed if stored.get(key) in allowed[key]})

    def with_decision(self, decided: Mapping[str, str]) -> Self:
        """The first decision stands: two threads may find out at the same time."""
        stored = {**self.from_dict(decided).as_dict(), **self.as_dict()}
        return self.from_dict(stored)
