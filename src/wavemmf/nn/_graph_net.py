"""A network that classifies graphs (section 7.3 of the paper) by filters that all share."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch.nn.functional import dropout, relu

from ..errors import InvalidInputError
from ._batch import BatchBasis, hop_matrix
from ._conv import WaveletConv
from ._filters import SpectralFilter
from ._pooling import WaveletPooling
from ._protocol import Basis
from ._settings import GRAPH_PRESETS, GraphNetSettings, check_channels, from_preset
from ._sparse import sparse_product

__all__ = ["GraphWaveletNet", "WaveletBlock"]


class WaveletBlock(torch.nn.Module):
    r"""A wavelet filter and an exact hop, followed by a perceptron on every node.

    .. math:: X' = \mathrm{MLP}\bigl( (\alpha X + A X) \, \Theta_0
        + W^T g(\Lambda) W X \, \Theta_1 \bigr)

    Without the hop the first term is left out. With all gains one the second is
    :math:`X \Theta_1`, since W is orthonormal.

    Parameters
    ----------
    in_channels, out_channels : int
        Number of channels before and after.
    settings : GraphNetSettings
        Filter, hop and normalisation.
    """

    def __init__(self, in_channels: int, out_channels: int, settings: GraphNetSettings) -> None:
        super().__init__()
        s = settings
        self.rate = s.hidden_dropout
        # A filter and a hop cost the same for every channel: with far fewer channels after than
        # before (a column for every label), they come after the map.
        self.maps_first = in_channels > 2 * out_channels
        filtered = out_channels if self.maps_first else in_channels
        self.filter = (
            SpectralFilter((filtered,), s.degree, s.level_degree, response=s.response)
            if s.filter == "spectral"
            else None
        )
        self.own_weight = torch.nn.Parameter(torch.ones(())) if s.hop else None
        self.of_hop = torch.nn.Linear(in_channels, out_channels, bias=False) if s.hop else None
        self.of_waves = torch.nn.Linear(in_channels, out_channels)
        self.second = torch.nn.Linear(out_channels, out_channels)
        self.norms = torch.nn.ModuleList(
            torch.nn.BatchNorm1d(out_channels) if s.batch_norm else torch.nn.Identity()
            for _ in range(2)
        )

    def forward(
        self, x: torch.Tensor, basis: Basis | None, hop: torch.Tensor | None
    ) -> torch.Tensor:
        """Return the signals after the layer."""
        if self.maps_first:
            h = self._filtered(self.of_waves(x), basis)
            if self.of_hop is not None:
                h = h + self._hopped(self.of_hop(x), hop)
        else:
            h = self.of_waves(self._filtered(x, basis))
            if self.of_hop is not None:
                h = h + self.of_hop(self._hopped(x, hop))
        h = dropout(relu(self.norms[0](h)), self.rate, self.training)
        return relu(self.norms[1](self.second(h)))

    def _filtered(self, x: torch.Tensor, basis: Basis | None) -> torch.Tensor:
        if self.filter is None:
            return x
        if basis is None:
            raise InvalidInputError("a wavelet filter needs the basis of the graphs")
        filtered: torch.Tensor = self.filter(x, basis)
        return filtered

    def _hopped(self, x: torch.Tensor, hop: torch.Tensor | None) -> torch.Tensor:
        if hop is None or self.own_weight is None:
            raise InvalidInputError("a hop needs the edges of the graphs")
        # The adjacency matrix is its own transpose.
        return self.own_weight * x + sparse_product(x, hop, hop)


class GraphWaveletNet(torch.nn.Module):
    """Classify graphs of any sizes by wavelet filters that are functions of the frequency.

    The preset "paper" is a stack of wavelet convolutions with a filter for every pair of channels,
    rectifiers between them. "wavemmf" is our own: each layer adds an exact hop beside the
    filter and a perceptron after them, and all layers are pooled.

    Parameters
    ----------
    in_channels, out_channels : int
        Numbers of features of a node and of classes.
    preset : {"wavemmf", "paper"}
        Where the settings come from.
    **settings
        Fields of `GraphNetSettings` to change.

    Shapes
    ------
    - input: a batch of PyTorch Geometric with ``x``, ``edge_index`` and the basis of every graph,
      which the transform `wavemmf.nn.AddWaveletBasis` adds
    - output: unnormalised log-probabilities ``(graphs, out_channels)``

    Examples
    --------
    >>> from torch_geometric.data import Batch, Data
    >>> from wavemmf.nn import AddWaveletBasis
    >>> triangle = torch.tensor([[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]])
    >>> data = AddWaveletBasis(k=2)(Data(x=torch.ones(3, 4), edge_index=triangle))
    >>> GraphWaveletNet(4, 2)(Batch.from_data_list([data, data])).shape
    torch.Size([2, 2])
    """

    def __init__(
        self, in_channels: int, out_channels: int, preset: str = "wavemmf", **settings: Any
    ) -> None:
        super().__init__()
        self.channels = check_channels(in_channels, out_channels)
        self.settings = s = from_preset(GRAPH_PRESETS, preset, settings)
        widths = [in_channels, *[s.hidden] * s.layers]
        make = _convolution if s.convolutions else WaveletBlock
        self.layers = torch.nn.ModuleList(make(a, b, s) for a, b in pairwise(widths))
        self.pooling = WaveletPooling(s.pooling, s.bands)
        seen = sum(widths) if s.jumping else widths[-1]
        width = self.pooling.width * seen
        self.norm = torch.nn.BatchNorm1d(width) if s.batch_norm else torch.nn.Identity()
        self.classifier = torch.nn.Linear(width, out_channels)

    @property
    def needs_basis(self) -> bool:
        """Whether batches must carry wavelet bases."""
        return self.settings.filter != "ones" or self.pooling.needs_basis

    def forward(self, batch: Any) -> torch.Tensor:
        """Return the class scores of all graphs of a batch."""
        x = batch.x
        basis = BatchBasis(batch) if self.needs_basis else None
        hop = hop_matrix(batch.edge_index, x.shape[0]) if self.settings.hop else None
        states = [x]
        for layer in self.layers:
            if self.settings.convolutions:
                states.append(relu(layer(states[-1], basis)))
            else:
                states.append(layer(states[-1], basis, hop))
        seen = torch.cat(states if self.settings.jumping else states[-1:], dim=1)
        pooled = self.norm(self.pooling(seen, batch, basis))
        return self.classifier(dropout(pooled, self.settings.dropout, self.training))


def _convolution(in_channels: int, out_channels: int, s: GraphNetSettings) -> WaveletConv:
    return WaveletConv(
        in_channels,
        out_channels,
        "spectral",
        "pair",
        response=s.response,
        bias=False,
        degree=s.degree,
        level_degree=s.level_degree,
    )
