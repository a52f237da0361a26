"""What a dotted name stands for."""

from __future__ import annotations

import importlib

__all__ = ["found"]


def found(name):
    """Return the module that a dotted name stands for, or the thing in one."""
    words = name.split(".")
    for length in range(len(words), 0, -1):
        try:
            thing = importlib.import_module(".".join(words[:length]))
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "wavemmf":
                raise
            continue
        for word in words[length:]:
            thing = getattr(thing, word)
        return thing
    raise AssertionError(f"{name} is not there")
