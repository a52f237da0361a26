"""The one function that makes keys for all that is kept and found again.

A key covers everything a result depends on: the data by their content, the settings, what the key
is for and the version of the code. What cannot be told apart by its content is refused, because
two different things under one key are a wrong result that nobody notices.
"""

from __future__ import annotations

import dataclasses
import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._version import __version__
from .errors import InputTypeError

__all__ = ["fingerprint"]

# Of one of our own classes the version stands for the code; another's code is unknown to us.
_OWN = __name__.partition(".")[0]


def fingerprint(purpose: str, /, **inputs: Any) -> str:
    """Return a key for what was computed from `inputs`, the same in every process.

    Parameters
    ----------
    purpose : str
        What the key is for: results of different kinds never share one.
    **inputs
        All that the result depends on. Plain values, arrays, sparse matrices, tensors, lists and
        dicts of them, objects of wavemmf that hold such values, and any object with a method
        ``fingerprint_parts()`` that returns them.

    Returns
    -------
    str
        Hexadecimal digits.

    Raises
    ------
    InputTypeError
        If an input cannot be told apart by its content; the message names it.

    Examples
    --------
    >>> fingerprint("sum", terms=np.arange(3)) == fingerprint("sum", terms=np.arange(3))
    True
    >>> fingerprint("sum", terms=np.arange(3)) == fingerprint("sum", terms=np.arange(4))
    False
    >>> fingerprint("sum", terms=print)
    Traceback (most recent call last):
    ...
    wavemmf.errors.InputTypeError: terms is a builtin_function_or_method, which cannot be ...
    """
    digest = hashlib.sha256()
    for part in _encoded(purpose, [_OWN, __version__, purpose]):
        digest.update(part)
    for name, value in sorted(inputs.items()):
        for part in _encoded(name, [name, value]):
            digest.update(part)
    return digest.hexdigest()


def _encoded(name: str, value: Any) -> Iterator[bytes]:
    """Yield bytes from which the value could be told: all parts have a kind and a length."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        yield from _framed(type(value).__name__, _plain(value))
    elif isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
        yield from _encoded_array(name, value)
    elif sp.issparse(value):
        yield from _encoded_sparse(name, value)
    elif isinstance(value, Mapping):
        yield from _encoded_mapping(name, value)
    elif isinstance(value, (list, tuple, range)):
        yield from _encoded_sequence(name, "sequence", value)
    elif isinstance(value, (set, frozenset)):
        members = sorted(b"".join(_encoded(name, member)) for member in value)
        yield from _encoded_sequence(name, "set", members)
    elif _is_tensor(value):
        yield from _encoded_tensor(name, value)
    else:
        yield from _encoded_object(name, value)


def _plain(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    # Written out in full: no two numbers share a representation.
    return (value if isinstance(value, str) else repr(value)).encode("utf-8", "surrogatepass")


def _framed(kind: str, content: bytes) -> Iterator[bytes]:
    yield f"{kind}:{len(content)}:".encode()
    yield content


def _encoded_sequence(name: str, kind: str, values: Sequence[Any]) -> Iterator[bytes]:
    yield f"{kind}:{len(values)}:".encode()
    for value in values:
        yield from _encoded(name, value)


def _encoded_mapping(name: str, values: Mapping[Any, Any]) -> Iterator[bytes]:
    yield f"mapping:{len(values)}:".encode()
    members = [(b"".join(_encoded(name, key)), key) for key in values]
    for encoded, key in sorted(members, key=lambda member: member[0]):
        yield encoded
        yield from _encoded(f"{name}[{key!r}]", values[key])


def _encoded_array(name: str, array: np.ndarray[Any, Any]) -> Iterator[bytes]:
    yield from _framed("array", f"{array.dtype.descr}{array.shape}".encode())
    if array.dtype.hasobject:
        yield from _encoded(name, array.tolist())
    else:
        yield from _framed("entries", np.ascontiguousarray(array).tobytes())


def _encoded_sparse(name: str, matrix: Any) -> Iterator[bytes]:
    csr = sp.csr_array(matrix)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    # How wide the indices are says nothing about the matrix.
    indices = (csr.indptr.astype(np.int64), csr.indices.astype(np.int64))
    yield from _encoded(name, ["sparse", csr.shape, *indices, csr.data])


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")  # without it there are no tensors
    return torch is not None and isinstance(value, torch.Tensor)


def _encoded_tensor(name: str, tensor: Any) -> Iterator[bytes]:
    torch = sys.modules["torch"]
    if tensor.layout != torch.strided or tensor.is_quantized:
        raise _refusal(name, tensor)
    whole = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    # As bytes: NumPy does not know all of torch's kinds of numbers.
    entries = whole.reshape(-1).view(torch.uint8).numpy()
    yield from _encoded(name, ["tensor", str(tensor.dtype), list(tensor.shape), entries])


def _encoded_object(name: str, value: Any) -> Iterator[bytes]:
    kind = type(value)
    title = f"{kind.__module__}.{kind.__qualname__}"
    if not isinstance(value, type):
        if hasattr(value, "fingerprint_parts"):
            yield from _encoded(name, ["object", title, value.fingerprint_parts()])
            return
        if kind.__module__.partition(".")[0] == _OWN:
            yield from _encoded(name, ["object", title, _fields(name, value)])
            return
    raise _refusal(name, value)


def _fields(name: str, value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    torch = sys.modules.get("torch")
    if callable(value) or (torch is not None and isinstance(value, torch.nn.Module)):
        raise _refusal(name, value)
    return dict(vars(value)) if hasattr(value, "__dict__") else {}


def _refusal(name: str, value: Any) -> InputTypeError:
    return InputTypeError(
        f"{name} is a {type(value).__name__}, which cannot be told apart by its content, so its "
        "results cannot be found again: leave out the cache, or give it a method "
        "fingerprint_parts() that returns all it depends on as plain values and arrays"
    )
