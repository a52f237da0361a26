"""What layers ask of a basis, whether it is that of one graph or of a batch."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch

__all__ = ["Basis"]


class Basis(ABC):
    """A basis of signals on nodes, each of its members with a frequency and a level.

    Filters, layers and poolings take any object of this class: `WaveletBasis` of one graph,
    `BatchBasis` of many, or a basis of your own, which has to set the two attributes and to
    define `analyze` and `synthesize`.

    Attributes
    ----------
    frequencies : tensor
        How fast each wavelet varies, shape (n,); between 0 and 2 for normalized Laplacians.
    levels : tensor
        Levels relative to the last one of the same graph, shape (n,), in (0, 1]; 1 for the core.

    Examples
    --------
    >>> class Coordinates(Basis):
    ...     def __init__(self, n):
    ...         self.frequencies, self.levels = torch.zeros(n), torch.ones(n)
    ...
    ...     def analyze(self, x):
    ...         return x
    ...
    ...     def synthesize(self, c):
    ...         return c
    >>> Coordinates(3).filter(torch.ones(3, 2), torch.tensor([1.0, 2.0, 3.0]))[:, 0]
    tensor([1., 2., 3.])
    """

    frequencies: torch.Tensor
    levels: torch.Tensor

    @property
    def n(self) -> int:
        """Number of rows of the signals, and of wavelets."""
        return self.frequencies.numel()

    @abstractmethod
    def analyze(self, x: torch.Tensor) -> torch.Tensor:
        """Return the coefficients of signals of shape (n, channels)."""

    @abstractmethod
    def synthesize(self, c: torch.Tensor) -> torch.Tensor:
        """Return the signals that have these coefficients: the inverse of `analyze`."""

    def filter(self, x: torch.Tensor, gains: torch.Tensor) -> torch.Tensor:
        """Return the signals with every coefficient multiplied by its gain.

        Parameters
        ----------
        x : tensor of shape (n, channels)
            The signals.
        gains : tensor of shape (n,) or (n, channels)
            What each coefficient is multiplied by.
        """
        gains = gains[:, None] if gains.ndim == 1 else gains
        return self.synthesize(gains * self.analyze(x))
