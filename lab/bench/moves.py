"""Move many files at once, and undo it."""

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from django.utils import timezone

from lab.bench import library as bench_library
from lab.bench.harness import ROUNDS, Row, seconds
from service.library import bulk_insert, library, moves
from service.library.bulk_insert import NewFile
from service.library.moves import Chosen

COUNT = 10_000


def rows(_home: Path) -> Iterator[Row]:
    owner, now = bench_library.account("moves@example.org"), timezone.now()
    files = [NewFile((f"Photo {n}.jpg",), bench_library.blob(1)) for n in range(COUNT)]
    folder = bulk_insert.insert_tree(owner, 0, "Photos", files, now).folder
    target = library.create_folder(owner, "Old", now)
    chosen = Chosen([], list(folder.files.values_list("pk", flat=True)))
    taken: dict[str, list[float]] = {"moved": [], "undone": []}
    batches: list[int] = []

    def move() -> None:
        batches.append(moves.move(owner, chosen, target.pk, "ask", now).batch)

    for _round in range(ROUNDS):
        taken["moved"].append(seconds(move))
        taken["undone"].append(seconds(lambda: moves.undo(owner, batches.pop(), now)))
    for name, limit in (("moved", 0.5), ("undone", 1)):
        yield Row(f"{COUNT:,} files {name}", median(taken[name]), " s", at_most=limit, raw=taken)
