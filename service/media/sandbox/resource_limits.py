"""How much a program that reads media may use."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ResourceLimits:
    wall_seconds: float  # generous: other processes use the machine too
    cpu_seconds: int
    memory_bytes: int  # of address space, which exceeds the memory in use
    output_bytes: int  # of each file it writes, and of its standard output
    open_files: int = 64
    nice: int = 10  # for CPU and disk: Linux derives the disk's priority from it
