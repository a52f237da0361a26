"""How much memory this process uses, for progress notes."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["memory_in_use"]


def memory_in_use() -> str:
    """Return ", 1.23 GB", or nothing where the system does not tell.

    Examples
    --------
    >>> memory_in_use().endswith("GB") or memory_in_use() == ""
    True
    """
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return ""
    return f", {pages * os.sysconf('SC_PAGE_SIZE') / 1e9:.2f} GB"
