"""Message passing over active rows (Eq. 10 and 11 of the paper): embeddings of nodes."""

from __future__ import annotations

import math
from itertools import pairwise

import torch

from ._messages import Propagate

__all__ = ["Encoder"]

_ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid}


class Encoder(torch.nn.Module):
    r"""A graph neural network without biases.

    .. math:: M_t = \sigma(P M_{t-1} W_{t-1}), \quad M = M_1 \oplus \cdots \oplus M_T

    with P the active block of the matrix, its normalized Laplacian, or the identity.

    Parameters
    ----------
    features, hidden, layers : int
        Number of input features, width and number T of layers.
    activation : {"relu", "tanh", "sigmoid"}
        The nonlinearity.
    """

    def __init__(self, features: int, hidden: int, layers: int, activation: str) -> None:
        super().__init__()
        self.activation = activation
        widths = [features] + [hidden] * layers
        self.weights = torch.nn.ParameterList(
            torch.nn.Parameter(torch.empty(a, b)) for a, b in pairwise(widths)
        )

    @property
    def width(self) -> int:
        """Length of an embedding."""
        return sum(weight.shape[1] for weight in self.weights)

    def initialize(self, generator: torch.Generator) -> None:
        """Draw the weights: uniform, with the variance that keeps messages of one size."""
        for weight in self.weights:
            bound = math.sqrt(3.0 / weight.shape[0])
            with torch.no_grad():
                weight.uniform_(-bound, bound, generator=generator)

    def forward(self, x: torch.Tensor, active: torch.Tensor, propagate: Propagate) -> torch.Tensor:
        """Return embeddings of shape (n, batch, width).

        Parameters
        ----------
        x : tensor of shape (n, batch, features)
            Features; zero for rows that are not active.
        active : tensor of shape (n, batch)
            Ones and zeros.
        propagate : callable
            What P does to messages, see `Messages.along`.
        """
        sigma = _ACTIVATIONS[self.activation]
        mask = active.unsqueeze(-1)
        outputs = []
        for weight in self.weights:
            x = sigma(propagate(x) @ weight) * mask
            outputs.append(x)
        return torch.cat(outputs, dim=-1)
