"""Which form of v1 a service understands, where there are two for one operation."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self

Naming = Literal["transfer", "torrent"]
Form = Literal["primary", "alternative"]
Kept = Literal["kept"]

NAMINGS: tuple[Naming, ...] = ("transfer", "torrent")
FORMS: tuple[Form, ...] = ("primary", "alternative")
KEPT: Kept = "kept"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The forms of v1 that a service understands; None means that nothing is decided yet.

    A decision is made once per connection and kept. To keep it beyond the process, store
    `as_dict()` and restore it with `from_dict()`.

    `folder_id`: "kept" if the service puts added items into this folder, as another Ferry does.
    """

    naming: Naming | None = None
    folder_create: Form | None = None
    folder_delete: Form | None = None
    file_delete: Form | None = None
    transfer_delete: Form | None = None
    file_rename: Form | None = None
    file_add: Form | None = None
    thumbnail: Form | None = None
    folder_id: Kept | None = None

    @classmethod
    def ours(cls) -> Self:
        """Return our own service's dialect: the primary forms, with nothing left to find out."""
        forms = {field.name: FORMS[0] for field in fields(cls)}
        return cls.from_dict(forms | {"naming": "transfer", "folder_id": KEPT})

    def as_dict(self) -> dict[str, str]:
        return {key: value for key, value in asdict(self).items() if value is not None}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read stored decisions. Unreadable ones are decided again."""
        allowed: dict[str, tuple[str, ...]] = {field.name: FORMS for field in fields(cls)}
        allowed |= {"naming": NAMINGS, "folder_id": (KEPT,)}
        return cls(**{key: stored[key] for key in allowed if stored.get(key) in allowed[key]})

    def with_decision(self, decided: Mapping[str, str]) -> Self:
        """Add decisions. The first one stands: two threads may find out at the same time."""
        return self.from_dict({**decided, **self.as_dict()})
