"""The ``wavemmf`` command: a thin layer over the library."""

from .app import app, main

__all__ = ["app", "main"]
