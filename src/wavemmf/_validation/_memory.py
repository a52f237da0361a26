"""Whether there is enough memory, asked before anything is allocated."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import InvalidInputError, TooLargeError

__all__ = ["check_memory"]

# The variable that limits memory, and what is not worth asking the system for: thousands of small
# matrices would wait for its answers.
_LIMIT = "WAVEMMF_MAX_MEMORY"
_ALWAYS_THERE = 2**20


def check_memory(bytes_needed: float, what: str) -> None:
    """Raise TooLargeError, before anything is allocated, if `bytes_needed` is not available.

    The limit is the environment variable ``WAVEMMF_MAX_MEMORY`` (bytes) if it is set, else
    the memory that the operating system reports as available, or the container if it allows
    less; no limit if neither reports any. What is asked for is the most that the work can take.
    """
    if bytes_needed < _ALWAYS_THERE and not os.environ.get(_LIMIT):
        return
    limit = _available_memory()
    if limit is not None and bytes_needed > limit:
        raise TooLargeError(
            f"{what} needs {bytes_needed / 2**30:.1f} GiB, but {limit / 2**30:.1f} GiB are "
            f"available (set {_LIMIT}, in bytes, to override this limit)"
        )


def _available_memory() -> int | None:
    override = os.environ.get(_LIMIT)
    if override:
        if not override.isdecimal():
            raise InvalidInputError(f"{_LIMIT} must be in bytes, got {override!r}")
        return int(override)
    known = [limit for limit in (_memory_of_machine(), _memory_of_container()) if limit is not None]
    return min(known, default=None)


def _memory_of_machine() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass  # Not Linux: ask for the physical memory instead.
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


# Of the control group that a container sees as its own, in both versions: its limit, its use, and
# its statistics.
_CONTAINERS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current", "memory.stat"),
    (
        "/sys/fs/cgroup/memory",
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "memory.stat",
    ),
)


def _memory_of_container() -> int | None:
    for folder, *names in _CONTAINERS:
        try:
            limit, used, statistics = ((Path(folder) / name).read_text("ascii") for name in names)
            # Without a limit it says "max", or a number beyond all memory.
            return max(0, int(limit) - int(used) + _reclaimable(statistics))
        except (OSError, ValueError):
            continue
    return None


def _reclaimable(statistics: str) -> int:
    """Return what is used for files that have not been read lately, given back when asked for."""
    facts = dict(line.split(maxsplit=1) for line in statistics.splitlines())
    return int(facts.get("total_inactive_file", facts.get("inactive_file", 0)))
