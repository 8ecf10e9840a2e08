"""The beginnings of fetches, kept where other machines find them."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from service.fetching.resume_point import ResumePoint


class Checkpoints(Protocol):
    """Where fetches keep their beginnings. Its methods are called in the threads of fetches."""

    def save(
        self,
        key: str,
        folder: Path,
        resume: ResumePoint,
        may_go_on: Callable[[], bool],
        *,
        with_rest: bool = False,
    ) -> None:
        """Save what is new on this disk, in whole parts or also the rest. Never raises."""

    def restore(self, key: str, folder: Path, beyond_bytes: int, check: Callable[[], None]) -> None:
        """Bring what another machine saved, if it is more than `beyond_bytes`.

        `check` is called between parts; any exception from it aborts. Raises TemporaryFailure, and
        PermanentFailure if the disk is full.
        """
