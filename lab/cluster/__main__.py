"""`python -m lab.cluster day` lives a day in DAY_SECONDS, by default an hour; `… throughput`
measures. Both need the rights of root.
"""

import os
import sys

from lab.cluster import published, throughput
from lab.cluster.day import lived
from tests.cluster import results
from tests.cluster.machines import cluster


def main() -> int:
    os.environ |= {"ENV_FILE": os.devnull, "TORRENT_NETWORK": "loopback", "TORRENT_PORT": "0"}
    if sys.argv[1:] == ["throughput"]:
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
    sys.exit(main())
