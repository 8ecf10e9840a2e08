"""Django's PostgreSQL, with our own pool of connections."""

import os
from functools import partial

from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base

from host.storage.postgresql.pool import Connection, ConnectionPool

# By process: a fork must not use the connections of its parent.
_pools: dict[tuple[int, str], ConnectionPool] = {}


class DatabaseWrapper(base.DatabaseWrapper):
    """A thread's access to the database, which takes its connection from the process's pool."""

    @property
    def pool(self) -> ConnectionPool | None:
        """Return the pool of this database. Commands that create databases connect without one."""
        options = self.settings_dict["OPTIONS"].get("pool")
        if not options or self.alias == NO_DB_ALIAS:
            return None
        key = (os.getpid(), self.alias)
        if key not in _pools:
            # If several threads make the first pool, one of them decides for all.
            connect = partial(self._connect, self.get_connection_params())
            _pools.setdefault(key, ConnectionPool(connect, **options))
        return _pools[key]

    def close_pool(self) -> None:
        """Close the connections that no thread uses, and forget the pool."""
        if pool := _pools.pop((os.getpid(), self.alias), None):
            pool.close()

    def _connect(self, parameters: dict[str, object]) -> Connection:
        # Outside a transaction, which the time zone would begin.
        connection: Connection = self.Database.connect(**parameters, autocommit=True)
        self._configure_connection(connection)  # type: ignore[attr-defined]
        return connection
