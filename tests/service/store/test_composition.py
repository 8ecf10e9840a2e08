"""The store of compose.cluster.yaml: its commands make a bucket that Ferry accepts."""

import subprocess

import httpx
import pytest
import yaml

from service.store.objects.bucket import Bucket
from service.store.objects.self_test import UnfitStore, refuse_unfit
from tests.object_stores import KEYS, MEMORY, folder, script, serving
from tests.running import BASE, free_port

pytestmark = pytest.mark.slow

SERVICES = yaml.safe_load((BASE / "compose.cluster.yaml").read_text())["services"]
PARTS = ("master", "volume", "filer", "s3")


@pytest.mark.promise("the store needs its keys")
def test_the_store_takes_only_those_with_the_keys_and_gets_its_bucket():
    ports = {f"{part}.port": free_port() for part in PARTS}
    more = {f"{part}.port.grpc": free_port() for part in PARTS}
    with folder() as data:
        own = {"-dir": data, "-ip": "127.0.0.1", "-ip.bind": "127.0.0.1"}
        given = [word for word in SERVICES["store"]["command"] if word.split("=")[0] not in own]
        options = [f"-{name}={port}" for name, port in (ports | more).items()]
        command = [script("weed"), "-logtostderr=true", *given, *options]
        command += [f"{name}={value}" for name, value in own.items()]
        command += ["-volume.max=64", "-master.volumeSizeLimitMB=64", "-s3.port.iceberg=0"]
        environment = {**KEYS, **MEMORY}
        endpoint = f"127.0.0.1:{ports['s3.port']}"
        ready = "Start Seaweed S3 API Server"
        with serving(command, ready, endpoint, environment):
            (_shell, _option, make) = SERVICES["bucket"]["entrypoint"]
            master = f"127.0.0.1:{ports['master.port']}.{more['master.port.grpc']}"
            make = make.replace("store:9333", master).replace("weed", str(script("weed")))
            subprocess.run(["sh", "-c", make], check=True, timeout=60)
            settings = SERVICES["web1"]["environment"]["STORE_URL"]
            url = settings.replace("store:8333", endpoint)
            with pytest.raises(UnfitStore):
                refuse_unfit(Bucket.of(url, KEYS | {"AWS_SECRET_ACCESS_KEY": "another"}))
            refuse_unfit(Bucket.of(url, KEYS))
            answer = httpx.get(f"http://{endpoint}/ferry/", trust_env=False)
            assert answer.status_code == 403
