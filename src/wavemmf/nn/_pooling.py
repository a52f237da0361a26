"""From signals on the nodes of many graphs to one row of numbers per graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .._validation import check_choice, check_integer
from ..errors import InvalidInputError
from ._protocol import Basis

__all__ = ["POOLINGS", "WaveletPooling", "hat_functions"]

#: How node signals become numbers of a graph: sums, means and logarithms of sums over nodes,
#: energies of wavelet coefficients in bands of frequency or of level.
POOLINGS = ("sum", "mean", "log", "band", "level")


class WaveletPooling(torch.nn.Module):
    r"""Pool signals over nodes, or the energy of their coefficients over bands.

    "log" is the inverse hyperbolic sine of the sum: a logarithm for large sums, of either sign, so
    that a graph ten times as large as the others does not drown them in the normalisation.
    The energy of band b is :math:`\sum_i \phi_b(\lambda_i) (W x)_i^2`, with hat functions
    :math:`\phi_b` that add up to one; bands of level take the level in place of the frequency.
    Squares, since a wavelet is defined up to its sign; and for an exact basis the energy of a band
    of frequency is :math:`x^T \phi_b(L) x`, whatever the basis of an eigenspace.

    Parameters
    ----------
    kinds : sequence of str
        From "sum", "mean", "log", "band" and "level"; all are put side by side.
    bands : int
        Number of bands.

    Shapes
    ------
    - input: signals ``(nodes of all graphs, channels)``, a batch of PyTorch Geometric, and its
      basis for "band" and "level"
    - output: ``(graphs, width * channels)``

    Examples
    --------
    >>> from torch_geometric.data import Data
    >>> WaveletPooling(["sum", "mean"])(torch.ones(3, 2), Data(num_nodes=3)).tolist()
    [[3.0, 3.0, 1.0, 1.0]]
    """

    def __init__(self, kinds: Sequence[str] = ("sum",), bands: int = 4) -> None:
        super().__init__()
        if not kinds:
            raise InvalidInputError(f"pooling must name at least one of {', '.join(POOLINGS)}")
        for kind in kinds:
            check_choice("pooling", kind, POOLINGS)
        check_integer("bands", bands, 2)
        self.kinds, self.bands = tuple(kinds), bands

    @property
    def width(self) -> int:
        """Numbers per channel."""
        return sum(self.bands if kind in ("band", "level") else 1 for kind in self.kinds)

    @property
    def needs_basis(self) -> bool:
        """Whether coefficients are needed."""
        return bool({"band", "level"} & set(self.kinds))

    def forward(self, x: torch.Tensor, batch: Any, basis: Basis | None = None) -> torch.Tensor:
        """Return the pooled signals, shape (graphs, width * channels)."""
        owner, count = _owners(batch, x.shape[0])
        sizes = torch.bincount(owner, minlength=count).clamp(min=1)[:, None]
        total = _add_up(x, owner, count)
        parts = []
        for kind in self.kinds:
            if kind == "sum":
                parts.append(total)
            elif kind == "mean":
                parts.append(total / sizes)
            elif kind == "log":
                parts.append(torch.asinh(total))
            else:
                parts.append(self._energy(kind, x, basis, owner, count))
        return torch.cat(parts, dim=1)

    def _energy(
        self, kind: str, x: torch.Tensor, basis: Basis | None, owner: torch.Tensor, count: int
    ) -> torch.Tensor:
        if basis is None:
            raise InvalidInputError("pooling by band or level needs the basis of the graphs")
        place = basis.frequencies / 2.0 if kind == "band" else basis.levels
        energy = basis.analyze(x).square()
        weights = hat_functions(place, self.bands)
        # The root has the size of the signal again.
        pooled = [_add_up(weights[:, b : b + 1] * energy, owner, count) for b in range(self.bands)]
        return torch.sqrt(torch.cat(pooled, dim=1) + 1e-6)


def hat_functions(place: torch.Tensor, bands: int) -> torch.Tensor:
    """Return hat functions on [0, 1] with peaks evenly spaced; they add up to one.

    Examples
    --------
    >>> hat_functions(torch.tensor([0.0, 0.25, 1.0]), 3)
    tensor([[1.0000, 0.0000, 0.0000],
            [0.5000, 0.5000, 0.0000],
            [0.0000, 0.0000, 1.0000]])
    """
    peaks = torch.linspace(0.0, 1.0, bands, dtype=place.dtype, device=place.device)
    distance = (place.clamp(0.0, 1.0)[:, None] - peaks).abs()
    return (1.0 - distance * (bands - 1)).clamp(min=0.0)


def _owners(batch: Any, n: int) -> tuple[torch.Tensor, int]:
    """Return the graph of every node, and how many graphs there are; a lone graph is one."""
    owner = getattr(batch, "batch", None)
    if owner is None:
        return torch.zeros(n, dtype=torch.long), 1
    return owner, int(batch.num_graphs)


def _add_up(x: torch.Tensor, owner: torch.Tensor, count: int) -> torch.Tensor:
    return x.new_zeros(count, x.shape[1]).index_add(0, owner, x)
