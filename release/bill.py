"""The bill of materials of an image, as CycloneDX: each package, and each of its files."""

import csv
import json
import re
import tarfile
from collections.abc import Iterator, Mapping
from email.message import Message
from email.parser import HeaderParser
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

DEBIAN = "var/lib/dpkg"
# What says which packages there are; the rest is only hashed.
FACTS = re.compile(
    rf"{DEBIAN}/(status|info/.*\.list)|usr/share/doc/[^/]+/copyright|.*\.dist-info/(METADATA|RECORD)"
)


# These wheels have FFmpeg with x264 and x265, whatever the license of their own code.
ALSO_UNDER = dict.fromkeys(("av", "imageio-ffmpeg"), "GPL-3.0-or-later")


class Image(NamedTuple):
    hashes: Mapping[str, str]  # of each regular file, by its path without a slash before it
    facts: Mapping[str, str]  # the text of files that describe packages


class Package(NamedTuple):
    name: str
    version: str
    purl: str
    licenses: list[str]


def read_image(archive: Path) -> Image:
    hashes: dict[str, str] = {}
    facts: dict[str, str] = {}
    with tarfile.open(archive) as outer:
        (entry,) = json.load(member(outer, "manifest.json"))
        for layer in entry["Layers"]:
            with tarfile.open(fileobj=member(outer, layer), mode="r:*") as files:
                for info in files:
                    if info.isfile() or info.islnk():
                        content = member(files, info.name).read()
                        hashes[info.name] = sha256(content).hexdigest()
                        if FACTS.fullmatch(info.name):
                            facts[info.name] = content.decode(errors="replace")
    return Image(hashes, facts)


def member(archive: tarfile.TarFile, name: str) -> Any:
    return archive.extractfile(name)


def bill(image: Image, version: str, date: str) -> dict[str, Any]:
    packages = [*debian_packages(image), *python_packages(image)]
    ferry = {"type": "application", "name": "ferry-server", "version": version}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"timestamp": f"{date}T00:00:00Z", "component": ferry},
        "components": sorted(packages, key=lambda package: str(package["purl"])),
    }


def debian_packages(image: Image) -> Iterator[dict[str, Any]]:
    for paragraph in image.facts[f"{DEBIAN}/status"].split("\n\n"):
        facts = HeaderParser().parsestr(paragraph)
        if not (name := facts["Package"]):
            continue
        purl = f"pkg:deb/debian/{name}@{facts['Version']}?arch={facts['Architecture']}"
        copyright_of = image.facts.get(f"usr/share/doc/{name}/copyright", "")
        licenses = sorted(set(re.findall(r"^License: *(\S.*?) *$", copyright_of, re.MULTILINE)))
        package = Package(name, facts["Version"], purl, licenses)
        yield component(image, package, debian_files(image, name, facts))


def debian_files(image: Image, name: str, facts: Message) -> Iterator[str]:
    for place in (name, f"{name}:{facts['Architecture']}"):
        for line in image.facts.get(f"{DEBIAN}/info/{place}.list", "").splitlines():
            # Debian 13 has /bin, /lib, and /sbin in /usr, whatever a package says.
            yield from (line.lstrip("/"), f"usr{line}")


def python_packages(image: Image) -> Iterator[dict[str, Any]]:
    for path, text in image.facts.items():
        if path.endswith("/METADATA"):
            facts = HeaderParser().parsestr(text)
            name = re.sub(r"[-_.]+", "-", facts["Name"]).lower()
            purl = f"pkg:pypi/{name}@{facts['Version']}"
            licenses = [*filter(None, (license_of(facts), ALSO_UNDER.get(name)))]
            package = Package(name, facts["Version"], purl, licenses)
            yield component(image, package, python_files(image, path))


def license_of(facts: Message) -> str:
    return facts["License-Expression"] or (facts["License"] or "").partition("\n")[0]


def python_files(image: Image, metadata: str) -> Iterator[str]:
    folder = PurePosixPath(metadata).parent
    record = image.facts.get(str(folder / "RECORD"), "")
    for row in csv.reader(record.splitlines()):
        parts: list[str] = []
        for part in (folder.parent / row[0]).parts:
            parts = parts[:-1] if part == ".." else [*parts, part]
        yield "/".join(parts)


def component(image: Image, package: Package, files: Iterator[str]) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": package.purl,
        "name": package.name,
        "version": package.version,
        "purl": package.purl,
        "licenses": [{"license": {"name": each}} for each in package.licenses],
        "components": [
            {
                "type": "file",
                "name": f"/{path}",
                "hashes": [{"alg": "SHA-256", "content": image.hashes[path]}],
            }
            for path in sorted(set(files) & image.hashes.keys())
        ],
    }
