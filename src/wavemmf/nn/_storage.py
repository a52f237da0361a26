"""Networks in files, with the operators they work with: safetensors, never pickle."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import scipy.sparse as sp
import torch

from .._tensorfile import TensorFile, check_claims
from ._basis import WaveletBasis
from ._net import WaveletNet
from ._sparse import SparseOperator

__all__ = ["SavedNet", "load_net", "read_net", "save_net", "write_net"]

# Settings that numbers are counted by; files of earlier versions do not name all of them.
_COUNTED = ("layers", "hops", "similar_hops", "degree", "level_degree", "scale_degree")

_FILE = TensorFile("wavemmf-net", "a network", 1)


class SavedNet(NamedTuple):
    """A network and what it works with; ``net(x, *saved[1:])`` runs it."""

    net: WaveletNet
    basis: WaveletBasis
    hop: SparseOperator | None
    similar: SparseOperator | None


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
    write_net(path, SavedNet(net, basis, hop, similar), {})


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
    return read_net(path)[1]


def write_net(path: str | os.PathLike[str], parts: SavedNet, header: dict[str, Any]) -> None:
    """Write a network and what it works with, and beside its settings the `header`."""
    net, basis = parts.net, parts.basis
    described = {
        "channels": list(net.channels),
        "num_wavelets": basis.n,
        "learn": basis.learn,
        "settings": net.settings.to_json(),
        **header,
    }
    held = {name: part for name, part in parts._asdict().items() if part is not None}
    _FILE.write(path, described, {name: part.state_dict() for name, part in held.items()})


def read_net(path: str | os.PathLike[str]) -> tuple[dict[str, Any], SavedNet]:
    """Return the description of a network in a file, and the network with what it works with."""
    return _FILE.read(path, lambda header, groups: (header, _rebuild(header, groups)))


def _rebuild(header: dict[str, Any], groups: dict[str, dict[str, torch.Tensor]]) -> SavedNet:
    inputs, outputs = header["channels"]
    settings = dict(header["settings"], num_wavelets=header["num_wavelets"])
    lengths = {name: settings[name] for name in _COUNTED if name in settings}

    def make() -> WaveletNet:
        return WaveletNet(inputs, outputs, **settings)

    check_claims(lengths, make, groups["net"])
    net = make()
    net.load_state_dict(groups["net"])
    basis = WaveletBasis.from_state_dict(groups["basis"], learn=header["learn"])
    return SavedNet(net, basis, _operator(groups, "hop"), _operator(groups, "similar"))


def _operator(groups: dict[str, dict[str, torch.Tensor]], name: str) -> SparseOperator | None:
    saved = groups.get(name)
    if saved is None:
        return None
    operator = SparseOperator(sp.csr_array((1, 1)), saved["values"].dtype)
    operator.load_state_dict(saved)
    return operator
