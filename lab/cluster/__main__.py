"""`python -m lab.cluster day` lives a day in DAY_SECONDS, by default an hour; `… throughput`
measures. Both need the rights of root.
"""

import argparse
import os
import sys
from collections.abc import Sequence

from lab.cluster import published, throughput
from lab.cluster.day import lived
from tests.cluster import results
from tests.cluster.machines import cluster


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.cluster", description=__doc__)
    parser.add_argument("what", choices=["day", "throughput"])
    what = parser.parse_args(arguments).what
    os.environ |= {"ENV_FILE": os.devnull, "TORRENT_NETWORK": "loopback", "TORRENT_PORT": "0"}
    if what == "throughput":
        rows = list(throughput.rows())
        results.add("throughput", rows)
        print(published.throughput_table(rows))
        return 0
    with cluster() as made:
        report = lived(made, float(os.environ.get("DAY_SECONDS", "3600")))
    results.add("day", str(report))
    print(report)
    return int(bool(report.faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
