"""Files that hold matrices and graphs, and the objects of other libraries."""

from __future__ import annotations

from ._readers import SUFFIXES, load_if_path, read

__all__ = ["SUFFIXES", "load_if_path", "read"]
