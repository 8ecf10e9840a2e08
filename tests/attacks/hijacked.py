"""A program that tries what a hostile file may do once it controls a process that reads media.

It prints the error number of each attempt, 0 if nothing stopped the attempt.
"""

import ctypes
import json
import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from service.media.sandboxed.confinement import landlock, seccomp

SEIZE, SESSION_KEYRING, NEW_USERS = 0x4206, -3, 0x1000_0000
NUMBERS = {**seccomp.CALLS, "clone": seccomp.CLONE, "clone3": seccomp.CLONE3}
libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: Any) -> None:
    number = NUMBERS[name][list(seccomp.MACHINES).index(os.uname().machine)]
    made = libc.syscall(number, *arguments)
    if made == 0 and name == "clone":
        os._exit(0)
    if made < 0:
        raise OSError(ctypes.get_errno(), name)


def connect(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as ours:
        ours.connect(path)


def send(kind: int, port: int) -> None:
    with socket.socket(socket.AF_INET, kind) as ours:
        ours.connect(("127.0.0.1", port))
        ours.send(b"secret")


def send_elsewhere(path: str) -> None:
    """Send to another address from a connected pair, which needs no address but accepts one."""
    ours, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, other:
        ours.sendto(b"secret", path)


def tries(around: dict[str, Any], held: int) -> dict[str, Callable[[], object]]:
    file, parent, room = around["file"], os.getppid(), ctypes.create_string_buffer(256)
    return {
        "udp": lambda: send(socket.SOCK_DGRAM, around["udp"]),
        "tcp": lambda: send(socket.SOCK_STREAM, around["tcp"]),
        "datagram": lambda: send_elsewhere(around["datagrams"]),
        "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close(),
        "chmod": lambda: Path(file).chmod(0o644),
        "fchmod": lambda: os.fchmod(held, 0o644),
        "chown": lambda: os.chown(file, os.getuid(), os.getgid()),
        "fchown": lambda: os.fchown(held, os.getuid(), os.getgid()),
        "utime": lambda: os.utime(file),
        "futimes": lambda: os.utime(held),
        "setxattr": lambda: os.setxattr(file, "user.x", b"y"),
        "fsetxattr": lambda: os.setxattr(held, "user.x", b"y"),
        "kill": lambda: os.kill(parent, 0),
        "pidfd": lambda: os.close(os.pidfd_open(parent)),
        "ptrace": lambda: call("ptrace", SEIZE, parent, 0, 0),
        "memory": lambda: call("process_vm_readv", parent, None, 0, None, 0, 0),
        "limits": lambda: resource.prlimit(parent, resource.RLIMIT_NOFILE),
        "keyctl": lambda: call("keyctl", 0, SESSION_KEYRING, 1),
        "add_key": lambda: call("add_key", b"user", b"x", b"y", 1, -2),
        "io_uring": lambda: call("io_uring_setup", 1, room),
        "bpf": lambda: call("bpf", 0, room, 128),
        "perf": lambda: call("perf_event_open", room, 0, -1, -1, 0),
        "faults": lambda: call("userfaultfd", 1),
        "setns": lambda: call("setns", held, 0),
        "fsopen": lambda: call("fsopen", b"tmpfs", 0),
        "clone": lambda: call("clone", NEW_USERS | signal.SIGCHLD, None, None, None, None),
        "clone3": lambda: call("clone3", room, 88),
        "other files": lambda: os.open(around["other"], os.O_RDONLY),
        "folders": lambda: os.scandir(around["folder"]).close(),
        **{f"socket {path}": lambda path=path: connect(path) for path in around["sockets"]},
        # Last, since they change what the process can reach.
        "unshare": lambda: call("unshare", NEW_USERS),
        "chroot": lambda: os.chroot(around["folder"]),
    }


def main(around: dict[str, Any]) -> None:
    held = os.open(around["file"], os.O_RDWR)
    if around["seals"]:
        assert landlock.seal({})
    found: dict[str, int] = {}
    for name, attempt in tries(around, held).items():
        try:
            attempt()
            found[name] = 0
        except OSError as refused:
            found[name] = refused.errno or -1
    # The sandbox must allow threads, which decoders need.
    thread = threading.Thread(target=found.update, args=({"threads": 0},))
    thread.start()
    thread.join()
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
