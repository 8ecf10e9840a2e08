"""seccomp: refuse system calls that Landlock allows, to this process and the program it becomes.

They concern sockets, owners and times of files, other processes, keys, and new namespaces.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterator

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
MODE_FILTER = 2
ALLOW, ERRNO = 0x7FFF_0000, 0x0005_0000
REFUSED, UNKNOWN = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS
# Instructions: load a word; jump if it is equal, if it is no less, or if bits are set; return.
LOAD, EQUAL, NO_LESS, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# Offsets of the call's number, the architecture, and the lower half of the first argument.
NUMBER, MACHINE, ARGUMENT = 0, 4, 16
# Call numbers of x32, another ABI of the same kernel, begin here.
X32 = 0x4000_0000
# Without CLONE_NEWTIME, since clone() uses that bit for the exit signal.
NAME_SPACES = 0x7E02_0000
MACHINES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}

# Numbers on x86_64 and aarch64; 0 if there is no such call.
CALLS = {
    # Sockets
    "socket": (41, 198),
    "socketpair": (53, 199),  # A datagram from one of the pair may name any address.
    "connect": (42, 203),
    "accept": (43, 202),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept4": (288, 242),
    # Files
    "chmod": (90, 0),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, 0),
    "fchown": (93, 55),
    "lchown": (94, 0),
    "fchownat": (260, 54),
    "utime": (132, 0),
    "utimes": (235, 0),
    "futimesat": (261, 0),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # Processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "kill": (62, 129),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    # The kernel
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "fanotify_init": (300, 262),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "unshare": (272, 97),
    "setns": (308, 268),
    "personality": (135, 92),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, 0),
    "ioperm": (173, 0),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "syslog": (103, 116),
}
# Decided by the first argument, except clone3(), which is always refused.
CLONE, CLONE3 = (56, 220), (435, 435)
TGKILL, PRLIMIT = (234, 131), (302, 261)


def refuse() -> bool:
    """Refuse the calls for good, and return whether the kernel did so."""
    machine = platform.machine()
    if sys.platform != "linux" or machine not in MACHINES:
        return False
    program = b"".join(instructions(machine))
    buffer = ctypes.create_string_buffer(program)
    filter_program = struct.pack("HP", len(program) // 8, ctypes.addressof(buffer))
    prctl = ctypes.CDLL(None).prctl
    if prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(prctl(PR_SET_SECCOMP, MODE_FILTER, filter_program, 0, 0) == 0)


def are_refused() -> bool:
    """Return whether this process was started with the calls refused."""
    try:
        with open("/proc/self/status") as status:
            return f"Seccomp:\t{MODE_FILTER}\n" in status
    except OSError:
        return False


def instructions(machine: str) -> Iterator[bytes]:
    column = list(MACHINES).index(machine)
    yield instruction(LOAD, MACHINE)
    yield instruction(EQUAL, MACHINES[machine], 1, 0)
    yield instruction(RETURN, REFUSED)
    yield instruction(LOAD, NUMBER)
    yield from unless(NO_LESS, X32, REFUSED)
    for name in CALLS:
        if CALLS[name][column]:
            yield from unless(EQUAL, CALLS[name][column], REFUSED)
    # glibc then starts threads with clone(), whose flags the filter can see.
    yield from unless(EQUAL, CLONE3[column], UNKNOWN)
    yield from by_argument(CLONE[column], ANY_BIT, NAME_SPACES, REFUSED, ALLOW)
    # Allowed only for this process itself: abort() and limits need it.
    yield from by_argument(TGKILL[column], EQUAL, os.getpid(), ALLOW, REFUSED)
    yield from by_argument(PRLIMIT[column], EQUAL, 0, ALLOW, REFUSED)
    yield instruction(RETURN, ALLOW)


def unless(test: int, value: int, answer: int) -> Iterator[bytes]:
    yield instruction(test, value, 0, 1)
    yield instruction(RETURN, answer)


def by_argument(call: int, test: int, value: int, answer: int, otherwise: int) -> Iterator[bytes]:
    yield instruction(EQUAL, call, 0, 4)
    yield instruction(LOAD, ARGUMENT)
    yield instruction(test, value, 0, 1)
    yield instruction(RETURN, answer)
    yield instruction(RETURN, otherwise)


def instruction(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_so, if_not, value)
