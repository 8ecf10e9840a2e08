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
# These files describe packages; all others are only hashed.
FACTS = re.compile(
    rf"{DEBIAN}/(status|info/.*\.list)|usr/share/doc/[^/]+/copyright|.*\.dist-info/(METADATA|RECORD)"
)

# Debian's files name licenses in fields; older ones refer to texts that all packages share.
LICENSE = re.compile(r"^License: *(\S.*?) *$", re.MULTILINE)
SHARED_LICENSE = re.compile(r"/usr/share/common-licenses/([\w.+-]*\w)")

# These wheels have FFmpeg with x264 and x265, whatever the license of their own code.
ALSO_UNDER = dict.fromkeys(("av", "imageio-ffmpeg"), "GPL-3.0-or-later")


class Image(NamedTuple):
    hashes: Mapping[str, str]  # of each regular file, by its path without a slash before it
    facts: Mapping[str, str]  # the text of files that describe packages
    links: Mapping[str, str]  # the targets of folders in usr/share/doc that are links


class Package(NamedTuple):
    name: str
    version: str
    purl: str
    licenses: list[str]


def read_image(archive: Path) -> Image:
    hashes: dict[str, str] = {}
    facts: dict[str, str] = {}
    links: dict[str, str] = {}
    with tarfile.open(archive) as outer:
        (entry,) = json.load(member(outer, "manifest.json"))
        for layer in entry["Layers"]:
            with tarfile.open(fileobj=member(outer, layer), mode="r:*") as files:
                for info in files:
                    if info.issym() and info.name.startswith("usr/share/doc/"):
                        links[info.name] = info.linkname
                    if info.isfile() or info.islnk():
                        content = member(files, info.name).read()
                        hashes[info.name] = sha256(content).hexdigest()
                        if FACTS.fullmatch(info.name):
                            facts[info.name] = content.decode(errors="replace")
    return Image(hashes, facts, links)


def member(archive: tarfile.TarFile, name: str) -> Any:
    return archive.extractfile(name)


def write_bill(image: Image, version: str, date: str) -> dict[str, Any]:
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
        text = copyright_of(image, name)
        licenses = sorted(set(LICENSE.findall(text) or SHARED_LICENSE.findall(text)))
        package = Package(name, facts["Version"], purl, licenses)
        yield component(image, package, debian_files(image, name, facts))


def copyright_of(image: Image, name: str) -> str:
    """Return what a package says about its licenses: some refer to another package's folder."""
    folder = image.links.get(f"usr/share/doc/{name}", name)
    return image.facts.get(f"usr/share/doc/{folder}/copyright", "")


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
    classifiers = [
        each for each in facts.get_all("Classifier", ()) if each.startswith("License ::")
    ]
    named = (facts["License"] or "").partition("\n")[0] or "".join(classifiers[-1:])
    return facts["License-Expression"] or named.rpartition(" :: ")[2]


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
