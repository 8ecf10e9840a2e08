"""python -m tests.without_links PROGRAM...: run a Python program on a machine whose disks support
neither hard links, nor named pipes, nor sockets, such as exFAT and some network shares.

A seccomp filter refuses the system calls as those file systems do; children inherit it.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

# The numbers of link, linkat, mknod, and mknodat; and of bind.
CALLS = {"x86_64": ((86, 265, 133, 259), 49), "aarch64": ((37, 33), 200)}
# A filter can't read an address, only its length: addresses of sockets in a folder are longer than
# those of the internet, and than abstract names, which are in no folder.
LONGEST_ADDRESS = 28
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, JUMP_IF_GREATER, RETURN = 0x20, 0x15, 0x25, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
NUMBER_AT, THIRD_ARGUMENT_AT = 0, 32


def is_possible() -> bool:
    return sys.platform == "linux" and platform.machine() in CALLS


def refuse() -> None:
    links, bind = CALLS[platform.machine()]
    last = len(links) + 5
    steps = [(LOAD, 0, 0, NUMBER_AT)]
    # Jumps count from the next step; the last step refuses.
    steps += [(JUMP_IF_EQUAL, last - at - 1, 0, call) for at, call in enumerate(links, 1)]
    steps += [
        (JUMP_IF_EQUAL, 0, 2, bind),
        (LOAD, 0, 0, THIRD_ARGUMENT_AT),
        (JUMP_IF_GREATER, 1, 0, LONGEST_ADDRESS),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE | errno.EPERM),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    for call in (
        (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0),
    ):
        if libc.prctl(*call):
            raise OSError(ctypes.get_errno(), "no filter can be set")


if __name__ == "__main__":
    refuse()
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
