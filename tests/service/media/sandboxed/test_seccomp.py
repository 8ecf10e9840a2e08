"""The filter of system calls, run here by an interpreter of the few instructions that it uses.

The kernel runs it for the machine at hand only; this shows the answers on every machine.
"""

import os
import platform
import struct

import pytest

from service.media.sandboxed.confinement import seccomp
from service.media.sandboxed.confinement.seccomp import ALLOW, MACHINES, REFUSED, UNKNOWN

X86, ARM = MACHINES
# Calls that every converter needs, on x86_64 and aarch64.
NEEDED = {"read": (0, 63), "write": (1, 64), "mmap": (9, 222), "futex": (202, 98)}
NEW_USER, THREAD = 0x1000_0000, 0x0001_0000


def answer(machine, call, argument=0, called_on=None):
    """Run the filter, and return what it answers to a system call."""
    program = [struct.unpack("=HBBI", each) for each in seccomp.instructions(machine)]
    facts = {
        seccomp.NUMBER: call,
        seccomp.MACHINE: MACHINES[called_on or machine],
        seccomp.ARGUMENT: argument,
    }
    at, loaded = 0, 0
    while True:
        code, if_so, if_not, value = program[at]
        at += 1
        if code == seccomp.RETURN:
            return value
        if code == seccomp.LOAD:
            loaded = facts[value]
            continue
        holds = {
            seccomp.EQUAL: loaded == value,
            seccomp.NO_LESS: loaded >= value,
            seccomp.ANY_BIT: bool(loaded & value),
        }
        at += if_so if holds[code] else if_not


@pytest.fixture(params=MACHINES)
def machine(request):
    return request.param


def number(calls, machine):
    return calls[list(MACHINES).index(machine)]


def test_each_call_of_the_table_is_refused_and_what_converters_need_is_not(machine):
    refused = {number(calls, machine) for calls in seccomp.CALLS.values()} - {0}
    assert all(answer(machine, call) == REFUSED for call in refused)
    needed = [number(calls, machine) for calls in NEEDED.values()]
    assert [answer(machine, call) for call in needed] == [ALLOW] * len(needed)


def test_the_calls_of_another_machine_are_refused(machine):
    (other,) = MACHINES.keys() - {machine}
    for calls in NEEDED.values():
        assert answer(machine, number(calls, other), called_on=other) == REFUSED


def test_the_other_abi_of_the_same_kernel_is_refused():
    assert answer(X86, NEEDED["read"][0] | seccomp.X32) == REFUSED


def test_threads_may_start_but_no_name_spaces(machine):
    clone = number(seccomp.CLONE, machine)
    assert answer(machine, clone, THREAD) == ALLOW
    assert answer(machine, clone, THREAD | NEW_USER) == REFUSED
    # glibc takes this for an old kernel, and calls clone().
    assert answer(machine, number(seccomp.CLONE3, machine)) == UNKNOWN


def test_a_process_may_end_and_limit_itself_only(machine):
    for calls, itself in ((seccomp.TGKILL, os.getpid()), (seccomp.PRLIMIT, 0)):
        call = number(calls, machine)
        assert answer(machine, call, itself) == ALLOW
        assert answer(machine, call, os.getppid()) == REFUSED


def test_this_process_was_started_without_the_filter():
    assert platform.machine() in MACHINES
    assert not seccomp.are_refused()
