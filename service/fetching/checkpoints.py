"""The beginnings of fetches, saved for other machines."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from service.fetching.resume_point import ResumePoint


class Checkpoints(Protocol):
    """The store for the beginnings of fetches. The threads of fetches call its methods."""

    def save(
        self,
        key: str,
        folder: Path,
        resume: ResumePoint,
        may_go_on: Callable[[], bool],
        *,
        with_rest: bool = False,
    ) -> None:
        """Save new bytes from this disk: whole parts only, or also the rest. Never raises."""

    def restore(self, key: str, folder: Path, beyond_bytes: int, check: Callable[[], None]) -> None:
        """Fetch what another machine saved, if it is more than `beyond_bytes`.

        `check` is called between parts; any exception from it aborts. Raises TemporaryFailure, and
        PermanentFailure if the disk is full.
        """
