"""Install the programs that Ferry is measured against: `python -m lab.bench.peers`."""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

DEBIAN = {"nginx": "nginx", "curl": "curl", "wrk": "wrk", "aria2": "aria2c"}
DEBIAN |= {"qbittorrent-nox": "qbittorrent-nox", "transmission-daemon": "transmission-daemon"}
PEERS = Path(__file__).resolve().parents[2] / ".peers"


def main() -> None:
    missing = [name for name, program in DEBIAN.items() if not shutil.which(program)]
    if missing:
        subprocess.run(["apt-get", "install", "--yes", *missing], check=True)
    if not (PEERS / "bin" / "pip").is_file():
        venv.create(PEERS, with_pip=True)
    pip = [str(PEERS / "bin" / "pip"), "install", "--quiet"]
    subprocess.run([*pip, "copyparty", "wsgidav", "cheroot"], check=True)


if __name__ == "__main__":
    sys.exit(main())
