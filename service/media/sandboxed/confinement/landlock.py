"""Landlock: limit which files this process can open, and prevent connections and signals.

The limits are permanent, and also hold for the program that it becomes.
"""

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Mapping

PR_SET_NO_NEW_PRIVS = 38
# System calls, with the same numbers on every architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
BENEATH_PATH = 1
ASK_VERSION = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REMOVE_FILE, MAKE_REG, TRUNCATE = 0x20, 0x100, 0x4000
# What may be done with a file, or with everything in a folder.
RIGHTS = {
    "read": READ_FILE,
    "run": READ_FILE | READ_DIR | EXECUTE,
    "keep": READ_FILE | READ_DIR | WRITE_FILE | MAKE_REG | REMOVE_FILE | TRUNCATE,
}
OF_ONE_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
# Everything that each version can forbid: files; TCP; signals and abstract sockets.
FILES = {1: 0x1FFF, 2: 0x3FFF}
LATER_FILES = 0x7FFF
TCP, OTHERS = 0x3, 0x3


def seal(opens: Mapping[str, str]) -> bool:
    """Seal this process, and return whether the kernel did.

    `opens` maps paths to keys of RIGHTS. After that, even a decoder taken over by a hostile file
    can only read its input, and answer. Open descriptors stay open.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None)
    version = libc.syscall(CREATE_RULESET, None, 0, ASK_VERSION)
    if version < 1 or libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    of_files = FILES.get(version, LATER_FILES)
    rights = [of_files]
    rights += [TCP] if version >= 4 else []
    rights += [OTHERS] if version >= 6 else []
    rules = struct.pack(f"={len(rights)}Q", *rights)
    ruleset = libc.syscall(CREATE_RULESET, rules, len(rules), 0)
    if ruleset < 0:
        return False
    results = [allow(libc, ruleset, path, RIGHTS[word] & of_files) for path, word in opens.items()]
    return all(results) and bool(libc.syscall(RESTRICT_SELF, ruleset, 0) == 0)


def allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> bool:
    try:
        descriptor = os.open(path, os.O_PATH)
    except OSError:
        return True  # A missing file needs no permission.
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        rights &= OF_ONE_FILE
    rule = struct.pack("=Qi", rights, descriptor)
    is_added = libc.syscall(ADD_RULE, ruleset, BENEATH_PATH, rule, 0) == 0
    os.close(descriptor)
    return bool(is_added)
