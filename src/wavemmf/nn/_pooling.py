"""From signals on the nodes of many graphs to one row of numbers per graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..errors import InvalidInputError
from ._batch import BlockBasis

__all__ = ["Pooling", "hat_functions"]


class Pooling(torch.nn.Module):
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
        From `wavemmf.nn.graphs.settings.POOLINGS`; all are put side by side.
    bands : int
        Number of bands.
    """

    def __init__(self, kinds: Sequence[str], bands: int) -> None:
        super().__init__()
        self.kinds, self.bands = tuple(kinds), bands

    @property
    def width(self) -> int:
        """Numbers per channel."""
        return sum(self.bands if kind in ("band", "level") else 1 for kind in self.kinds)

    @property
    def needs_basis(self) -> bool:
        """Whether coefficients are needed."""
        return bool({"band", "level"} & set(self.kinds))

    def forward(self, x: torch.Tensor, batch: Any, basis: BlockBasis | None) -> torch.Tensor:
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
        self, kind: str, x: torch.Tensor, basis: BlockBasis | None, owner: torch.Tensor, count: int
    ) -> torch.Tensor:
        if basis is None:
            raise InvalidInputError("pooling by band or level needs the basis of the graphs")
        place = basis.frequencies / 2.0 if kind == "band" else basis.levels
        energy = basis.analysis(x).square()
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
