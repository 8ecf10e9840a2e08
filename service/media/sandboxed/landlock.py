"""Landlock: from here on this process, and what it becomes, opens no file but those that it was
told of, connects to nobody and signals nobody."""

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Mapping

PR_SET_NO_NEW_PRIVS = 38
# The same numbers on every kind of machine.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
BENEATH_PATH = 1
ASK_VERSION = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REMOVE_FILE, MAKE_REG, TRUNCATE = 0x20, 0x100, 0x4000
# What may be done with a file, or with all that lies in a folder.
RIGHTS = {
    "read": READ_FILE,
    "run": READ_FILE | READ_DIR | EXECUTE,
    "keep": READ_FILE | READ_DIR | WRITE_FILE | MAKE_REG | REMOVE_FILE | TRUNCATE,
}
OF_ONE_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
# All that each version knows to forbid, of files; of TCP; and of signals and abstract sockets.
FILES = {1: 0x1FFF, 2: 0x3FFF}
LATER_FILES = 0x7FFF
TCP, OTHERS = 0x3, 0x3


def seal(opens: Mapping[str, str]) -> bool:
    """Whether the kernel does so; `opens` are paths, with a word of RIGHTS each. Even a decoder
    that a hostile file has taken over can then read what was handed to it, and answer; what is
    open stays open."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None)
    version = libc.syscall(CREATE_RULESET, None, 0, ASK_VERSION)
    if version < 1 or libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    of_files = FILES.get(version, LATER_FILES)
    wanted = [of_files]
    wanted += [TCP] if version >= 4 else []
    wanted += [OTHERS] if version >= 6 else []
    rules = struct.pack(f"={len(wanted)}Q", *wanted)
    ruleset = libc.syscall(CREATE_RULESET, rules, len(rules), 0)
    if ruleset < 0:
        return False
    allowed = [allow(libc, ruleset, path, RIGHTS[word] & of_files) for path, word in opens.items()]
    return all(allowed) and bool(libc.syscall(RESTRICT_SELF, ruleset, 0) == 0)


def allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> bool:
    try:
        place = os.open(path, os.O_PATH)
    except OSError:
        return True  # What is not there needs no leave.
    if not stat.S_ISDIR(os.fstat(place).st_mode):
        rights &= OF_ONE_FILE
    rule = struct.pack("=Qi", rights, place)
    is_added = libc.syscall(ADD_RULE, ruleset, BENEATH_PATH, rule, 0) == 0
    os.close(place)
    return bool(is_added)
