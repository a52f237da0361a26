"""Write files so that a reader sees the old content or the new, never a mixture."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .errors import InvalidInputError

__all__ = ["atomic_write", "check_writable"]


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return `path` as a Path, or explain before any long work why it cannot be written."""
    target = Path(path)
    if target.is_dir():
        raise InvalidInputError(f"cannot write {target}: it is a directory")
    if not target.parent.is_dir():
        raise InvalidInputError(f"cannot write {target}: the folder {target.parent} does not exist")
    if not os.access(target.parent, os.W_OK):
        raise InvalidInputError(f"cannot write {target}: the folder {target.parent} is read-only")
    return target


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `path` and rename it into place on success.

    The data is flushed to the disk before the rename; on any exception, Ctrl-C included,
    the temporary file is removed and whatever stood at `path` before is untouched.
    """
    target = check_writable(path)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        _grant_default_permissions(name)
        os.replace(name, target)
    except BaseException as error:
        if os.path.exists(name):
            os.unlink(name)
        if isinstance(error, OSError) and error.filename is None:
            # A full disk is reported by the stream, which does not know its name.
            error.filename = str(target)
        raise


def _grant_default_permissions(name: str) -> None:
    # mkstemp creates the file readable by its owner alone; a saved result should be as
    # readable as any other file the user creates.
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(name, 0o666 & ~mask)
