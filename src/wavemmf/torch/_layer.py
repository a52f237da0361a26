"""A wavelet basis that can be trained inside a PyTorch model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from ..errors import InputTypeError, InvalidInputError
from ..factorization import Factorization, Rotations
from ..graphs import as_matrix
from ._checks import check_tensor
from ._coordinates import PlaneCoordinates, SkewCoordinates
from ._functional import analyze, residual, synthesize

__all__ = ["MMFLayer"]

_INDICES = ("offsets", "groups", "drop_offsets", "wavelets")


class MMFLayer(torch.nn.Module):
    r"""The wavelet transform of a factorization, with trainable rotations.

    The index sets are fixed. The one parameter ``theta`` holds the coordinates of all rotations
    relative to the buffer ``base`` (see `SkewCoordinates`, and `PlaneCoordinates` for compact
    levels, which stay compact); it starts at zero, and the basis stays orthonormal wherever an
    optimiser takes it. Far from zero the coordinates become distorted:
    `rebase` makes the current rotations the new base.

    Signals have one row per coordinate, shape (n,) or (n, m), and are transformed in their own
    dtype, float32 or float64. The kernels run on the CPU.

    Parameters
    ----------
    factorization : Factorization or Rotations
        Where to start.
    dtype : torch.dtype, optional
        Precision of the parameter, float64 (the default) or float32.

    Examples
    --------
    >>> import wavemmf as wm
    >>> graph = wm.graphs.karate()
    >>> layer = MMFLayer(wm.factorize(graph, core=8, k=4))
    >>> layer
    MMFLayer(n=34, levels=26, core=8, k=4, parameters=156)
    >>> x = torch.ones(34, 2)
    >>> torch.allclose(layer.synthesize(layer(x)), x, atol=1e-5)
    True
    """

    base: torch.Tensor

    def __init__(
        self, factorization: Factorization | Rotations, dtype: torch.dtype = torch.float64
    ) -> None:
        super().__init__()
        if isinstance(factorization, Factorization):
            factorization = factorization.rotations
        if not isinstance(factorization, Rotations):
            raise InputTypeError(
                f"expected a Factorization or Rotations, got {type(factorization).__name__}"
            )
        if dtype not in (torch.float32, torch.float64):
            raise InputTypeError(f"dtype must be torch.float32 or torch.float64, got {dtype}")
        compact = factorization.kind == "compact"
        self._start = factorization
        # What the transform takes; only its index sets matter.
        self.rotations = factorization.to_full()
        self.coordinates = (PlaneCoordinates if compact else SkewCoordinates)(factorization)
        self.theta = torch.nn.Parameter(torch.zeros(self.coordinates.size, dtype=dtype))
        self.register_buffer("base", torch.tensor(factorization.blocks, dtype=dtype))
        for name in _INDICES:
            self.register_buffer(name, torch.tensor(getattr(factorization, name)))

    @property
    def n(self) -> int:
        """Number of rows of the signals."""
        return self.rotations.n

    @property
    def blocks(self) -> torch.Tensor:
        """The current rotation blocks, packed; a differentiable function of ``theta``."""
        check_tensor("theta", self.theta)
        return self.coordinates.blocks(self.theta, self.base)

    def analyze(self, x: torch.Tensor) -> torch.Tensor:
        """Return the wavelet coefficients of the signals `x`, as ``layer(x)`` does."""
        return analyze(x, self.rotations, self.blocks)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the wavelet coefficients of the signals `x`."""
        return self.analyze(x)

    def synthesize(self, c: torch.Tensor) -> torch.Tensor:
        """Return the signals with the wavelet coefficients `c`: the inverse of `analyze`."""
        return synthesize(c, self.rotations, self.blocks)

    def filter(self, x: torch.Tensor, gains: torch.Tensor) -> torch.Tensor:
        """Return the signals with every wavelet coefficient multiplied by its gain.

        Parameters
        ----------
        x : tensor of shape (n,) or (n, m)
            The signals.
        gains : tensor
            One gain per coefficient, shape (n,), or a tensor that broadcasts with `x`.

        Returns
        -------
        tensor of the shape of `x`

        Examples
        --------
        >>> import wavemmf as wm
        >>> layer = MMFLayer(wm.factorize(wm.graphs.cycle(6), core=2, k=2))
        >>> x = torch.ones(6, 2)
        >>> torch.allclose(layer.filter(x, torch.full((6,), 2.0)), 2 * x, atol=1e-5)
        True
        """
        blocks = self.blocks
        c = analyze(x, self.rotations, blocks)
        if gains.ndim == 1 and c.ndim == 2:
            gains = gains[:, None]
        return synthesize(gains * c, self.rotations, blocks)

    def residual(self, matrix: torch.Tensor) -> torch.Tensor:
        """Return the squared error of `matrix` factorized with the current rotations.

        Examples
        --------
        >>> import wavemmf as wm
        >>> a = wm.graphs.normalized_laplacian(wm.graphs.cycle(6)).toarray()
        >>> f = wm.factorize(a, core=2, k=2)
        >>> loss = MMFLayer(f).residual(torch.tensor(a))
        >>> abs(loss.item() - f.error() ** 2) < 1e-9
        True
        """
        return residual(matrix, self.rotations, self.blocks)

    @torch.no_grad()
    def rebase(self) -> None:
        """Make the current rotations the base and set ``theta`` to zero; the basis stays.

        Call it every now and then, after a step of the optimiser. Momentum that the optimiser
        keeps is carried over as it is.
        """
        self.base.copy_(self.coordinates.moved(self.theta, self.base))
        self.theta.zero_()

    def to_rotations(self) -> Rotations:
        """Return the current rotations, of the kind that the layer was made of."""
        moved = self.coordinates.moved(self.theta.detach(), self.base)
        return replace(self._start, blocks=moved.numpy())

    def to_factorization(self, A: Any) -> Factorization:
        """Return the factorization of `A` with the current rotations.

        Parameters
        ----------
        A : matrix, graph or path
            As for `wavemmf.factorize`.

        Returns
        -------
        Factorization

        Examples
        --------
        >>> import wavemmf as wm
        >>> graph = wm.graphs.karate()
        >>> f = wm.factorize(graph, core=8, k=4)
        >>> abs(MMFLayer(f).to_factorization(graph).error() - f.error()) < 1e-9
        True
        """
        matrix: Any = as_matrix(A)
        if matrix.shape[0] != self.n:
            raise InvalidInputError(f"the layer has {self.n} rows, the matrix {matrix.shape[0]}")
        return Factorization.from_rotations(matrix, self.to_rotations())

    def extra_repr(self) -> str:
        """Describe the size of the transform."""
        r = self.rotations
        k = int(r.sizes.max(initial=0))
        return (
            f"n={r.n}, levels={r.num_levels}, core={r.core.size}, k={k}, "
            f"parameters={self.theta.numel()}"
        )

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *arguments: Any) -> None:
        for name in _INDICES:
            saved = state_dict.get(prefix + name)
            if saved is not None and not torch.equal(saved.cpu(), getattr(self, name).cpu()):
                errors = arguments[-1]
                errors.append(
                    f"{prefix or 'MMFLayer'}: the saved layer has other index sets ({name}); make "
                    "the layer from the factorization it was trained with"
                )
                return
        super()._load_from_state_dict(state_dict, prefix, *arguments)
