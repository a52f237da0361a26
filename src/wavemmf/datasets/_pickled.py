"""Read arrays out of pickled files without unpickling them.

A pickle is a program, and Python's unpickler runs whatever functions it names. Here the few
instructions that describe arrays, sparse matrices and lists are followed on a stack of plain
values. A name is only a word: nothing is ever imported or called because a file says so.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from pickletools import opcodes
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._validation import check_compressed
from ..errors import FileFormatError
from ..io._text import read_content

__all__ = ["read_pickled"]

# What a file may name, under the names of old and new versions of Python, NumPy and SciPy.
_KINDS = {
    "numpy.core.multiarray _reconstruct": "array",
    "numpy._core.multiarray _reconstruct": "array",
    "numpy ndarray": "array class",
    "numpy dtype": "dtype",
    "scipy.sparse.csr csr_matrix": "sparse",
    "scipy.sparse._csr csr_matrix": "sparse",
    "collections defaultdict": "dict",
    "__builtin__ list": "list",
    "builtins list": "list",
}

_IGNORED = {"PROTO", "FRAME"}
_LITERALS = {
    "BININT", "BININT1", "BININT2", "LONG1", "BINSTRING", "SHORT_BINSTRING", "BINUNICODE",
    "SHORT_BINUNICODE", "BINBYTES", "SHORT_BINBYTES",
}  # fmt: skip
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY: dict[str, type] = {"EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_TUPLE": tuple}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_DOERS = {
    "MARK", "TUPLE", "APPEND", "APPENDS", "SETITEM", "SETITEMS", "BINPUT", "LONG_BINPUT",
    "MEMOIZE", "BINGET", "LONG_BINGET", "GLOBAL", "STACK_GLOBAL", "REDUCE", "NEWOBJ", "BUILD",
}  # fmt: skip
_ALLOWED = {*_IGNORED, *_LITERALS, *_CONSTANTS, *_EMPTY, *_TUPLES, *_DOERS, "STOP"}
_OPCODES = {opcode.code: opcode for opcode in opcodes}
_DTYPE = re.compile(r"[iu][1248]|f[48]|b1")
_WRONG = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def read_pickled(path: Path) -> NDArray[Any] | sp.csr_array | dict[Any, Any]:
    """Return the array, the sparse matrix or the dictionary of lists in a pickled file.

    Parameters
    ----------
    path : Path
        The file, plain or gzipped; pickled by Python 2, or by Python 3 with protocol 3 or 4.

    Raises
    ------
    FileFormatError
        If it is damaged, or holds or names anything else.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pickle import dumps
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "ind.tiny.y")
    ...     _ = path.write_bytes(dumps(np.arange(3), protocol=4))
    ...     read_pickled(path).tolist()
    [0, 1, 2]
    """
    try:
        return _as_value(_Machine().run(read_content(path)))
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error}") from error
    except _WRONG as error:
        raise FileFormatError(f"{path} is damaged: {error!r}") from error


class _Named:
    """An object of a kind that is known, as the file describes it."""

    def __init__(self, kind: str, arguments: Any = ()) -> None:
        self.kind = kind
        self.arguments = arguments
        self.state: Any = None


def _instructions(content: bytes) -> Iterator[tuple[str, Any]]:
    """Yield the names of instructions with what they hold, as long as they describe data."""
    stream = io.BytesIO(content)
    while code := stream.read(1).decode("latin-1"):
        opcode = _OPCODES.get(code)
        if opcode is None or opcode.name not in _ALLOWED:
            name = repr(code) if opcode is None else opcode.name
            raise FileFormatError(f"the instruction {name} does not describe an array")
        if opcode.name == "STOP":
            return
        if opcode.name == "GLOBAL":  # the module and the name, each in a line
            yield "GLOBAL", b" ".join(stream.readline().strip() for _ in range(2)).decode("ascii")
        else:
            yield opcode.name, None if opcode.arg is None else opcode.arg.reader(stream)
    raise FileFormatError("it ends before it is complete")


class _Machine:
    """Follows the instructions of a pickle, as far as they describe data."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def run(self, content: bytes) -> Any:
        """Return what is left on the stack at the end."""
        for name, argument in _instructions(content):
            self._follow(name, argument)
        if len(self.stack) != 1 or self.marks:
            raise FileFormatError("it does not describe one value")
        return self.stack.pop()

    def _follow(self, name: str, argument: Any) -> None:
        if name in _LITERALS:
            self.stack.append(argument)
        elif name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name])
        elif name in _EMPTY:
            self.stack.append(_EMPTY[name]())
        elif name in _TUPLES:
            self.stack.append(tuple(self._take(_TUPLES[name])))
        elif name not in _IGNORED:
            getattr(self, f"_{name.lower()}")(argument)

    def _take(self, count: int) -> list[Any]:
        if count > len(self.stack):
            raise FileFormatError("it ends before it is complete")
        split = len(self.stack) - count
        taken, self.stack[split:] = self.stack[split:], []
        return taken

    def _take_to_mark(self) -> list[Any]:
        return self._take(len(self.stack) - self.marks.pop())

    def _mark(self, _: None) -> None:
        self.marks.append(len(self.stack))

    def _tuple(self, _: None) -> None:
        self.stack.append(tuple(self._take_to_mark()))

    def _append(self, _: None) -> None:
        self._extend(self._take(1))

    def _appends(self, _: None) -> None:
        self._extend(self._take_to_mark())

    def _extend(self, items: list[Any]) -> None:
        if not isinstance(self.stack[-1], list):
            raise FileFormatError("it appends to something that is not a list")
        self.stack[-1].extend(items)

    def _setitem(self, _: None) -> None:
        self._update(self._take(2))

    def _setitems(self, _: None) -> None:
        self._update(self._take_to_mark())

    def _update(self, items: list[Any]) -> None:
        if not isinstance(self.stack[-1], dict):
            raise FileFormatError("it sets items of something that is not a dictionary")
        self.stack[-1].update(zip(items[::2], items[1::2], strict=True))

    def _binput(self, key: int) -> None:
        self.memo[key] = self.stack[-1]

    _long_binput = _binput

    def _memoize(self, _: None) -> None:
        self._binput(len(self.memo))

    def _binget(self, key: int) -> None:
        self.stack.append(self.memo[key])

    _long_binget = _binget

    def _global(self, name: str) -> None:
        if name not in _KINDS:
            raise FileFormatError(
                f"it names {name.replace(' ', '.')!r}, which is no array and was not run"
            )
        self.stack.append(_Named(_KINDS[name]))

    def _stack_global(self, _: None) -> None:
        self._global(" ".join(self._take(2)))

    def _reduce(self, _: None) -> None:
        named, arguments = self._take(2)
        if named.kind not in ("array", "dtype", "dict"):
            raise FileFormatError(f"it calls a {named.kind}")
        self.stack.append({} if named.kind == "dict" else _Named(named.kind, arguments))

    def _newobj(self, _: None) -> None:
        named, arguments = self._take(2)
        if named.kind != "sparse":
            raise FileFormatError(f"it makes a new {named.kind}")
        self.stack.append(_Named("sparse", arguments))

    def _build(self, _: None) -> None:
        (state,) = self._take(1)
        if not isinstance(self.stack[-1], _Named):
            raise FileFormatError("it changes something that is not an array")
        self.stack[-1].state = state


def _as_value(made: Any) -> Any:
    if isinstance(made, dict):
        return made
    if isinstance(made, _Named) and made.kind == "array":
        return _as_array(made)
    if isinstance(made, _Named) and made.kind == "sparse":
        return _as_sparse(made.state)
    raise FileFormatError("it holds no array, no sparse matrix and no dictionary")


def _as_array(made: Any) -> NDArray[Any]:
    if getattr(made, "kind", None) != "array":
        raise FileFormatError("an array is missing")
    _, shape, dtype, fortran, content = made.state
    code, order = dtype.arguments[0], dtype.state[1]
    if dtype.kind != "dtype" or not _DTYPE.fullmatch(code) or order not in ("<", ">", "|", "="):
        raise FileFormatError(f"an array of type {order}{code} does not hold plain numbers")
    # Python 2 had no type of its own for bytes.
    raw = content.encode("latin-1") if isinstance(content, str) else content
    values = np.frombuffer(raw, np.dtype(code).newbyteorder(order))
    return values.reshape(shape, order="F" if fortran else "C")


def _as_sparse(state: dict[str, Any]) -> sp.csr_array:
    parts = tuple(_as_array(state[name]) for name in ("data", "indices", "indptr"))
    matrix = sp.csr_array(parts, shape=state.get("_shape"))
    check_compressed(matrix)
    return matrix
