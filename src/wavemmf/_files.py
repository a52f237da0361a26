"""Write files so that a reader sees the old content or the new, never a mixture."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from .errors import InvalidInputError

try:
    import fcntl
except ImportError:  # Windows, where files that are open cannot be deleted or replaced anyway
    fcntl = None  # type: ignore[assignment]

__all__ = ["atomic_write", "check_regular", "check_writable", "warn_if_not_kept"]

# Short, so that every name that the disk allows can be written to.
_PREFIX, _SUFFIX = ".wavemmf-", ".tmp"
_MOST_LINKS = 40
# Without locks, a temporary file of this age is taken for one that was left behind.
_ABANDONED_SECONDS = 24 * 3600.0
# Folders that this process has cleared of what killed processes left behind.
_cleared: set[Path] = set()


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return `path` as a Path, or explain before any long work why it cannot be written.

    Raises
    ------
    InvalidInputError
        If it is a directory, a socket or a block device, if its name is too long, or if there is
        no folder to write into.

    Examples
    --------
    >>> check_writable("result.mmf").name
    'result.mmf'
    """
    given = Path(path)
    target = _destination(given)
    kind = _kind(target, given)
    if kind is not None and stat.S_ISDIR(kind):
        raise InvalidInputError(f"cannot write {given}: it is a directory")
    if kind is not None and (stat.S_ISBLK(kind) or stat.S_ISSOCK(kind)):
        raise InvalidInputError(
            f"cannot write {given}: it is a socket or a block device; files, FIFOs and character "
            "devices can be written"
        )
    if _is_stream(target, kind):
        if not os.access(target, os.W_OK):
            raise InvalidInputError(f"cannot write {given}: no permission, or it is closed")
        return given
    folder = target.parent
    if not folder.is_dir():
        raise InvalidInputError(f"cannot write {given}: the folder {folder} does not exist")
    if not os.access(folder, os.W_OK):
        raise InvalidInputError(f"cannot write {given}: the folder {folder} is read-only")
    return given


def check_regular(path: str | os.PathLike[str]) -> Path:
    """Like `check_writable`, for files that are also read back and removed: no devices or FIFOs.

    Examples
    --------
    >>> check_regular("state.ckpt").name
    'state.ckpt'
    """
    given = check_writable(path)
    target = _destination(given)
    if _is_stream(target, _kind(target, given)):
        raise InvalidInputError(f"cannot keep anything in {given}: it is not a regular file")
    return given


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `path` and rename it into place on success.

    The data is flushed to the disk before the rename; on any exception, Ctrl-C included,
    the temporary file is removed and whatever stood at `path` before is untouched. A file that is
    replaced keeps its mode, and a symbolic link is followed. What cannot be replaced, a FIFO or a
    character device, gets everything at the end.
    """
    given = check_writable(path)
    target = _destination(given)
    kind = _kind(target, given)
    write = _write_through if _is_stream(target, kind) else _replace
    try:
        with write(target) as stream:
            yield stream
    except OSError as error:
        if error.filename is None:
            # A full disk is reported by the stream, which does not know its name.
            error.filename = str(given)
        raise


@contextmanager
def warn_if_not_kept(what: str) -> Iterator[None]:
    """Turn a disk that is full or gone into a warning: `what` is worth less than the result.

    Examples
    --------
    >>> with warn_if_not_kept("the figures"):
    ...     pass
    """
    try:
        yield
    except (OSError, InvalidInputError) as error:  # the folder may have become read-only
        warnings.warn(f"{what} could not be kept: {error}", stacklevel=4)


# -- where a path leads --


def _destination(path: Path) -> Path:
    """Follow symbolic links to what is to be written, which need not exist."""
    target = path
    for _ in range(_MOST_LINKS):
        if _is_open_file(target) or not _is_link(target):
            return target
        target = target.parent / os.readlink(target)
    raise InvalidInputError(f"cannot write {path}: its symbolic links lead nowhere")


def _is_link(path: Path) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except (OSError, ValueError):  # told by `_kind`, in the words of the user's path
        return False


def _is_open_file(path: Path) -> bool:
    """Tell whether the path is a file descriptor of this process, like ``/dev/stdout``.

    Such a link may lead to a file, but what is written must go where the descriptor stands.
    """
    if not path.name.isdigit() or path.parent.name != "fd":
        return False
    return path.parent.resolve() == Path("/proc/self/fd").resolve()


def _kind(target: Path, given: Path) -> int | None:
    """Return the mode of what is there, None for nothing."""
    try:
        return os.stat(target).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:  # a name that is too long, or has a zero byte
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InvalidInputError(f"cannot write {str(given)!r}: {reason}") from error


def _is_stream(target: Path, kind: int | None) -> bool:
    if _is_open_file(target):
        return True
    return kind is not None and (stat.S_ISFIFO(kind) or stat.S_ISCHR(kind))


# -- writing --


@contextmanager
def _write_through(target: Path) -> Iterator[IO[bytes]]:
    """Collect everything, and hand it over if there was no error."""
    with tempfile.TemporaryFile() as stream:
        yield stream
        stream.seek(0)
        # Opening a descriptor by its path would begin at the start of a file once more.
        own = os.dup(int(target.name)) if _is_open_file(target) else target
        with open(own, "wb") as output:
            shutil.copyfileobj(stream, output)


@contextmanager
def _replace(target: Path) -> Iterator[IO[bytes]]:
    _clear(target.parent)
    before = os.stat(target) if target.exists() else None
    descriptor, name = _new_file(target.parent, 0o666 if before is None else 0o600)
    try:
        with os.fdopen(descriptor, "w+b") as stream:
            yield stream
            stream.flush()
            if before is not None:
                _keep_access(stream, name, before)
            os.fsync(stream.fileno())
            if fcntl is not None:  # while it is locked: nobody takes it for left behind
                os.replace(name, target)
        if fcntl is None:
            os.replace(name, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _new_file(folder: Path, mode: int) -> tuple[int, str]:
    """Create a file that no other process takes for left behind, with the rights of new files."""
    while True:
        name = str(folder / f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}")
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0)
        descriptor = os.open(name, flags, mode)
        if fcntl is None:
            return descriptor, name
        with suppress(OSError):  # some disks have no locks: then nothing is ever cleared there
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.exists(name):  # not cleared away before it was locked
            return descriptor, name
        os.close(descriptor)


def _keep_access(stream: IO[bytes], name: str, before: os.stat_result) -> None:
    """Give the new file the owner, if that is allowed, and the mode of the one it replaces."""
    if hasattr(os, "fchown"):
        with suppress(PermissionError):
            os.fchown(stream.fileno(), before.st_uid, before.st_gid)
    os.chmod(name, stat.S_IMODE(before.st_mode))


# -- what killed processes left behind --


def _clear(folder: Path) -> None:
    """Remove the temporary files of processes that were killed, once per process and folder."""
    place = folder.resolve()
    if place in _cleared:
        return
    _cleared.add(place)
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            ours = entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX)
            if ours and entry.is_file(follow_symlinks=False):
                with suppress(OSError):  # another writer was faster
                    _remove_if_left(entry.path)


def _remove_if_left(name: str) -> None:
    if fcntl is None:
        if time.time() - os.stat(name).st_mtime > _ABANDONED_SECONDS:
            os.unlink(name)
        return
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused while its writer lives
        os.unlink(name)
    finally:
        os.close(descriptor)
