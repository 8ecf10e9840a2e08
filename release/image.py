"""The container image: a base of Debian's packages, Containerfile, and an archive of both."""

import json
import os
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

BASE = Path(__file__).resolve().parents[1]
BASE_IMAGE = "localhost/ferry-base"
SUITE = "trixie"
SUITES = ("debian trixie", "debian trixie-updates", "debian-security trixie-security")
PACKAGES = "ca-certificates,libstdc++6,python3,python3-venv"
LEFT_OUT = ("/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")
# Without one, mmdebstrap chooses Debian's own.
MIRROR = os.environ.get("DEBIAN_MIRROR", "")
SOURCES = [f"deb {MIRROR}/{place} main" for place in SUITES if MIRROR]


def run(*command: str | Path, epoch: int = 0) -> str:
    environment = os.environ | ({"SOURCE_DATE_EPOCH": str(epoch)} if epoch else {})
    program = which(command[0])
    if program is None:
        raise SystemExit(f"`make release` needs Debian's package {command[0]}.")
    done = subprocess.run(  # noqa: S603
        [program, *command[1:]], check=True, env=environment, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.strip()


def make_base(epoch: int) -> str:
    """Make an image of Debian and its Python, unless it exists, and return its name.

    `buildah rmi localhost/ferry-base` lets the next build fetch Debian's latest packages.
    """
    if BASE_IMAGE in run("buildah", "images", "--format", "{{.Name}}").splitlines():
        sys.stderr.write(f"{BASE_IMAGE} exists: its packages of Debian are as old as it is.\n")
        return BASE_IMAGE
    with TemporaryDirectory(prefix="ferry-base-", dir="/var/tmp") as folder:
        root = Path(folder, "root.tar")
        write_root(root, epoch)
        container = run("buildah", "from", "scratch")
        run("buildah", "add", "--quiet", container, root, "/")
        run("buildah", "commit", "--quiet", "--rm", f"--timestamp={epoch}", container, BASE_IMAGE)
    return BASE_IMAGE


def write_root(root: Path, epoch: int) -> None:
    # Python must not look at the times of its files: the image gives all of them the same.
    compile_all = "python3 -m compileall -qf --invalidation-mode unchecked-hash /usr/lib/python3*"
    run(
        "mmdebstrap",
        "--quiet",
        "--variant=essential",
        f"--include={PACKAGES}",
        *(f"--dpkgopt=path-exclude={each}" for each in LEFT_OUT),
        f'--customize-hook=chroot "$1" sh -c "PYTHONHASHSEED=0 {compile_all}"',
        # mmdebstrap leaves files of this machine, and its mirror.
        '--customize-hook=cd "$1/etc" && rm -rf hostname resolv.conf apt/sources.list*',
        SUITE,
        root,
        *SOURCES,
        epoch=epoch,
    )


def build(target: Path, name: str, epoch: int, *options: str) -> None:
    """Build the image and write it to an archive that Docker, Podman, and Buildah load."""
    options = ("--isolation=chroot", f"--timestamp={epoch}", *options)
    base = f"--build-arg=BASE={make_base(epoch)}"
    with TemporaryDirectory(prefix="ferry-image-", dir="/var/tmp") as folder:
        layout = Path(folder, "layout")
        trust = trust_certificates(Path(folder, "pip.conf"))
        run("buildah", "build", "--quiet", *options, *trust, base, f"--tag={name}", BASE)
        run("buildah", "push", "--quiet", name, f"oci:{layout}:{name}")
        write_archive(layout, target, name, epoch)


def trust_certificates(configuration: Path) -> list[str]:
    """Let pip in the build trust what pip trusts here, such as the certificate of a proxy."""
    if not (certificates := os.environ.get("PIP_CERT")):
        return []
    configuration.write_text("[global]\ncert = /etc/pip.pem\n")
    mounts = (f"{certificates}:/etc/pip.pem:ro", f"{configuration}:/etc/pip.conf:ro")
    return [f"--volume={mount}" for mount in mounts]


def write_archive(layout: Path, target: Path, name: str, epoch: int) -> None:
    """Write an OCI archive, with what older versions of Docker look for, in a fixed order."""
    files = {str(path.relative_to(layout)): path for path in layout.rglob("*") if path.is_file()}
    with tarfile.open(target, "w", format=tarfile.USTAR_FORMAT) as archive:
        for place in [
            "oci-layout",
            "index.json",
            *sorted(set(files) - {"oci-layout", "index.json"}),
        ]:
            with files[place].open("rb") as content:
                info = file_info(place, files[place].stat().st_size, epoch)
                archive.addfile(info, content)
        manifest = json.dumps(docker_manifest(layout, name)).encode()
        archive.addfile(file_info("manifest.json", len(manifest), epoch), BytesIO(manifest))


def file_info(place: str, size: int, epoch: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(place)
    info.size, info.mtime, info.mode = size, epoch, 0o644
    return info


def docker_manifest(layout: Path, name: str) -> list[dict[str, object]]:
    manifest = manifest_of(layout)
    layers = [blob(layer["digest"]) for layer in manifest["layers"]]
    return [{"Config": blob(manifest["config"]["digest"]), "RepoTags": [name], "Layers": layers}]


def manifest_of(layout: Path) -> Any:
    (entry,) = json.loads((layout / "index.json").read_text())["manifests"]
    return json.loads((layout / blob(entry["digest"])).read_text())


def blob(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"
