"""Networks in files, with the operators they work with: safetensors, never pickle."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import scipy.sparse as sp
import torch

from .._files import atomic_write, check_writable
from .._optional import require
from .._version import __version__
from ..errors import FileFormatError, InvalidInputError
from .basis import WaveletBasis
from .net import WaveletNet
from .sparse import SparseOperator

__all__ = ["SavedNet", "load_net", "save_net"]

_FORMAT = "wavemmf-net"
_VERSION = 1
_KEY = "wavemmf"


def save_net(
    net: WaveletNet,
    basis: WaveletBasis,
    path: str | os.PathLike[str],
    hop: SparseOperator | None = None,
    similar: SparseOperator | None = None,
) -> None:
    """Write a network together with its basis and hops, whole or not at all.

    Parameters
    ----------
    net : WaveletNet
        What to save.
    basis : WaveletBasis
        The basis it works in.
    path : str or path
        The file, usually named .safetensors.
    hop, similar : SparseOperator, optional
        The exact hop of a decoupled network, and the one between nodes that are alike.
    """
    check_writable(path)
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "written_by": f"wavemmf {__version__}",
        "channels": list(net.channels),
        "num_wavelets": basis.n,
        "learn": basis.learn,
        "settings": net.settings.to_json(),
    }
    modules: dict[str, Any] = {"net": net, "basis": basis}
    modules.update((name, m) for name, m in (("hop", hop), ("similar", similar)) if m is not None)
    tensors = {
        f"{prefix}.{name}": value.detach().cpu().contiguous()
        for prefix, module in modules.items()
        for name, value in module.state_dict().items()
    }
    content = require("safetensors.torch", extra="torch").save(
        tensors, metadata={_KEY: json.dumps(header)}
    )
    with atomic_write(path) as stream:
        stream.write(content)


class SavedNet(NamedTuple):
    """A network and what it works with; ``net(x, *saved[1:])`` runs it."""

    net: WaveletNet
    basis: WaveletBasis
    hop: SparseOperator | None
    similar: SparseOperator | None


def load_net(path: str | os.PathLike[str]) -> SavedNet:
    """Read what `save_net` wrote: the network, its basis, and its hops if it has any.

    Raises
    ------
    InvalidInputError
        If there is no such file.
    FileFormatError
        If it is damaged, of another kind, or written by a later version.

    Examples
    --------
    >>> import pathlib, tempfile, wavemmf as wm
    >>> basis = wm.nn.wavelet_basis(wm.graphs.karate(), core=8, k=4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_net(WaveletNet(34, 2), basis, pathlib.Path(folder, "net.safetensors"))
    ...     load_net(pathlib.Path(folder, "net.safetensors"))[1].n
    34
    """
    file = Path(path)
    if not file.is_file():
        raise InvalidInputError(f"no such file: {file}")
    safetensors = require("safetensors", extra="torch")
    try:
        with safetensors.safe_open(str(file), framework="pt") as content:
            metadata = content.metadata() or {}
            tensors = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
        return _rebuild(metadata, tensors, file)
    except FileFormatError:
        raise
    except safetensors.SafetensorError as error:
        raise FileFormatError(f"{file} is not a whole safetensors file: {error}") from error
    except (KeyError, TypeError, ValueError, RuntimeError, OSError) as error:
        raise FileFormatError(f"{file} is damaged: {error}") from error


def _rebuild(metadata: dict[str, str], tensors: dict[str, torch.Tensor], file: Path) -> SavedNet:
    header = json.loads(metadata.get(_KEY, "{}"))
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise FileFormatError(f"{file} is a safetensors file, but not a network of wavemmf")
    if int(header["version"]) > _VERSION:
        raise FileFormatError(
            f"{file} has version {header['version']} of the format ({header.get('written_by')}); "
            f"this is wavemmf {__version__}, which reads up to {_VERSION}: update it"
        )
    inputs, outputs = header["channels"]
    settings = dict(header["settings"], num_wavelets=header["num_wavelets"])
    net = WaveletNet(inputs, outputs, **settings)
    net.load_state_dict(_part(tensors, "net"))
    basis = WaveletBasis.from_state_dict(_part(tensors, "basis"), learn=header["learn"])
    return SavedNet(net, basis, _operator(tensors, "hop"), _operator(tensors, "similar"))


def _operator(tensors: dict[str, torch.Tensor], name: str) -> SparseOperator | None:
    saved = _part(tensors, name)
    if not saved:
        return None
    operator = SparseOperator(sp.csr_array((1, 1)), saved["values"].dtype)
    operator.load_state_dict(saved)
    return operator


def _part(tensors: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    start = f"{prefix}."
    return {name[len(start) :]: t for name, t in tensors.items() if name.startswith(start)}
