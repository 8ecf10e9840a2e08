"""Kill one part of a cluster."""

import signal

from tests.cluster.machines import Cluster, Machine

LEFT = "SELECT count(*) FROM service_transfer WHERE state NOT IN ('done', 'failed')"


def kill(cluster: Cluster, victim: str, doing: Machine) -> Machine | None:
    """Kill the part, and return the machine that must be started again.

    `doing` is killed if it is such a machine, and otherwise another one of its kind.
    """
    if victim == "database":
        cluster.database.stop(signal.SIGQUIT)
        cluster.database.start()
        return None
    if victim == "store":
        cluster.objects.kill()
        cluster.objects.start()
        return None
    machines = cluster.webs if victim == "web" else cluster.workers
    dying = doing if doing in machines else machines[0]
    dying.kill()
    return dying
