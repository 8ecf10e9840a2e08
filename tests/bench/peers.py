"""Installs what Ferry is measured against: `python -m tests.bench.peers`."""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

PEERS = Path(__file__).resolve().parents[2] / ".peers"


def main() -> None:
    if not shutil.which("nginx") or not shutil.which("curl"):
        subprocess.run(["apt-get", "install", "--yes", "nginx", "curl"], check=True)
    if not (PEERS / "bin" / "pip").is_file():
        venv.create(PEERS, with_pip=True)
    subprocess.run([str(PEERS / "bin" / "pip"), "install", "--quiet", "copyparty"], check=True)


if __name__ == "__main__":
    sys.exit(main())
