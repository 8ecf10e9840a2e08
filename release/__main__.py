"""Build everything that people install, into `dist/`: `make release`.

Two runs give equal bytes, as long as the package indexes have the same packages.
"""

import argparse
import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from release import bill, image, site

BASE = image.BASE
DIST = BASE / "dist"
PROJECT = tomllib.loads((BASE / "pyproject.toml").read_text())
VERSION = PROJECT["project"]["version"]
DATE = PROJECT["tool"]["ferry"]["released"]
EPOCH = int(datetime.fromisoformat(DATE).replace(tzinfo=UTC).timestamp())
COPIED = (
    "LICENSE", "requirements.lock", "docs/systemd/ferry.service", "release/install.sh",
    "release/SOURCES.md",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=DIST, help="where it goes")
    parser.add_argument(
        "--without-image", action="store_true", help="leave out the container image"
    )
    options = parser.parse_args()
    if changes := image.run("git", "-C", BASE, "status", "--porcelain"):
        raise SystemExit(f"A release is made of a commit, but these files differ:\n{changes}")
    write_all(options.folder, has_image=not options.without_image)
    sys.stdout.write(f"Ferry {VERSION} of {DATE} is in {options.folder}.\n")


def write_all(folder: Path, *, has_image: bool) -> None:
    if folder == DIST:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise SystemExit(f"{folder} isn't empty.")
    build_wheel(folder)
    for name in COPIED:
        shutil.copy(BASE / name, folder)
    for name, text in texts():
        (folder / name).write_text(text)
    site.write_site(folder / "site")
    if has_image:
        build_image(folder)
    write_sums(folder)


def build_wheel(folder: Path) -> None:
    python = Path(sys.executable)
    image.run(
        python, "-m", "hatchling", "build", "--target=wheel", f"--directory={folder}", epoch=EPOCH
    )


def texts() -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the files that differ from those of a checkout."""
    composition = (BASE / "compose.yaml").read_text()
    yield "compose.yaml", re.sub(r"    build:\n(      .*\n)+", "", composition)
    for path in sorted((BASE / "docs/containers").iterdir()):
        yield path.name, path.read_text()
    yield "RELEASE-NOTES.md", notes((BASE / "CHANGELOG.md").read_text())


def notes(changes: str) -> str:
    """Return what the changes say about this version."""
    section = changes.split(f"\n## {VERSION}, {DATE}\n")[1].partition("\n## ")[0]
    return f"# Ferry {VERSION}, {DATE}\n{section.rstrip()}\n"


def build_image(folder: Path) -> None:
    architecture = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
    archive = folder / f"ferry-{VERSION}-{architecture}.tar"
    image.build(archive, f"localhost/ferry:{VERSION}", EPOCH)
    written = bill.write_bill(bill.read_image(archive), VERSION, DATE)
    archive.with_suffix(".cdx.json").write_text(json.dumps(written, indent=1) + "\n")


def write_sums(folder: Path) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = [f"{sum_of(path)}  {path.relative_to(folder)}\n" for path in files]
    (folder / "SHA256SUMS").write_text("".join(lines))


def sum_of(path: Path) -> str:
    with path.open("rb") as file:
        digest = sha256()
        while piece := file.read(2**20):
            digest.update(piece)
    return digest.hexdigest()


if __name__ == "__main__":
    main()
