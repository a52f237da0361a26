"""The ``wavemmf`` command: a thin layer over the library."""

from .._startup import ended_by_interrupts

with ended_by_interrupts():
    from .app import app, main

__all__ = ["app", "main"]
