"""What the image and the composition say fits together, and fits Ferry."""

import re

import yaml

from config import settings
from tests.running import BASE
from tests.test_tree import tracked

IMAGE = (BASE / "Containerfile").read_text()
FERRY = yaml.safe_load((BASE / "compose.yaml").read_text())["services"]["ferry"]


def test_the_composition_mounts_what_the_image_writes_to():
    (volume,) = FERRY["volumes"]
    data = volume.partition(":")[2]
    assert FERRY["environment"]["DATA_DIR"] == data
    assert f"DATA_DIR={data}\n" in IMAGE
    assert f"VOLUME {data}\n" in IMAGE
    assert set(FERRY["environment"]) <= set(settings.env.names)


def test_the_image_gets_what_the_wheel_is_made_of_and_nothing_else():
    ignored, *kept = (BASE / ".containerignore").read_text().splitlines()
    assert ignored == "*"
    names = {name.removeprefix("!") for name in kept if name.startswith("!")}
    needed = {str(path.relative_to(BASE)).split("/")[0] for path in tracked(*WHEEL)}
    assert names == needed | {"README.md", "requirements.lock"}


WHEEL = re.findall(
    r'"([\w.]+)"',
    re.search(r"only-include = \[(.*?)\]", (BASE / "pyproject.toml").read_text(), re.DOTALL)[1],
)


def test_a_container_has_time_to_stop():
    seconds = int(FERRY["stop_grace_period"].removesuffix("s"))
    processes = (BASE / "config/processes.py").read_text()
    assert seconds > int(re.search(r"^STOP_SECONDS = (\d+)$", processes, re.MULTILINE)[1])
