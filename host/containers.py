"""What a container asks of Ferry: to become a user, and to tell whether it is healthy."""

import os
from http.client import HTTPConnection, HTTPException
from pathlib import Path

# Docker waits ten seconds for the answer.
ANSWER_SECONDS = 8
OURS = {"ferry.sqlite3", "library", "secret_key"}
ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  They become loopback addresses.


def become_user() -> None:
    """In a container, leave root for PUID and PGID, and give them a data folder that is new."""
    user, group = (os.environ.get(name, "") for name in ("PUID", "PGID"))
    if not user or "IN_CONTAINER" not in os.environ:
        return
    if not user.isdecimal() or not (group or user).isdecimal():
        raise SystemExit("PUID and PGID: they must be numbers of a user and a group.")
    uid, gid = int(user), int(group or user)
    if os.geteuid():
        refuse_other(uid, gid)
        return
    folder = Path(os.environ.get("DATA_DIR", "/data"))
    if folder.is_dir():
        give(folder, uid, gid)
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)


def give(folder: Path, uid: int, gid: int) -> None:
    """Make a user the owner of a folder, unless it has another user's Ferry."""
    if has_other_owner(folder, uid):
        raise SystemExit(
            f"PUID: {folder} has files of another user. Set PUID to that user's number, or give "
            f"all files to user {uid}: chown -R {uid}:{gid}, on the folder that is {folder}."
        )
    if folder.stat().st_uid != uid:
        os.chown(folder, uid, gid)


def has_other_owner(folder: Path, uid: int) -> bool:
    try:
        ours = OURS & {each.name for each in folder.iterdir()}
        return any((folder / name).lstat().st_uid != uid for name in ours)
    except PermissionError:
        # In a container, root may lack the right to look into a folder that a user closed.
        return folder.stat().st_uid != uid


def refuse_other(uid: int, gid: int) -> None:
    if os.geteuid() != uid:
        raise SystemExit(
            f"PUID: Ferry runs as user {os.geteuid()} already, and only root can become another. "
            f"Start the container as that user (--user {uid}:{gid}), or as root (--user 0)."
        )


def is_healthy() -> bool:
    """Ask Ferry on this machine whether it is ready, at the address to which it listens."""
    # After `become_user`, since the settings open the data folder.
    from config import settings  # noqa: PLC0415

    host = ANY_ADDRESS.get(settings.HOST, settings.HOST)
    connection = HTTPConnection(host, settings.PORT, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", f"{settings.URL_PREFIX}/readyz", headers={"Host": "localhost"})
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
