"""The wavelet basis of one graph as networks use it: as fast as can be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from .._validation import check_choice
from ..errors import InputTypeError, InvalidInputError
from ..factorization import Factorization, Rotations
from ..factorization._basis import basis_matrix, rows_of_basis
from ..torch import MMFLayer, analyze, synthesize
from ._diagonal import diagonalized, relative_levels
from ._protocol import Basis
from ._sparse import SparseOperator

__all__ = ["WaveletBasis"]

# How the transform is computed.
_FORMS = ("auto", "sparse", "rotations")

# A rotation costs its multiplications and something to set up, set to so many more. Measured with
# 64 channels, a multiplication takes 0.1 to 0.5 ns in either form.
_ROTATION_OVERHEAD = 20

# A basis is not even made if a sample of its rows says that it needs so many times more operations.
_CLEARLY = 2.0
_SAMPLED_ROWS = 128
_SAMPLE_FROM = 1000

_FACTS = ("frequencies", "levels", "core_indices", "core_vectors", "discarded")


class WaveletBasis(torch.nn.Module, Basis):
    r"""An orthonormal basis in which a matrix is diagonal, as far as its factorization knows.

    With :math:`A \approx W^T H W` and the eigenvectors V of the core block of H, the transform is

    .. math:: W' = \begin{pmatrix} I & \\ & V^T \end{pmatrix} W, \qquad A \approx W'^T \Lambda W'

    so every row of :math:`W'` has a frequency, its entry of the diagonal :math:`\Lambda`. V is
    applied as a factor of its own, which keeps W sparse. All parts are buffers: the
    basis moves with ``.to(device)`` and is saved with the model that holds it.

    Parameters
    ----------
    factorization : Factorization
        Of the matrix whose frequencies count, usually a normalized Laplacian.
    method : {"auto", "sparse", "rotations"}
        Multiply with a sparse matrix (any device), or apply the sequence of rotations (on the
        CPU, exact). "auto" takes what needs fewer operations.
    threshold : float
        Entries of W of this magnitude or less are left out of the sparse matrix; `discarded` is
        their norm. The rotations have no threshold.
    learn : bool
        Make the rotations parameters, trained together with the network that uses the basis
        (takes ``method="rotations"``). The frequencies stay those of the factorization.
    dtype : torch.dtype
        Precision of the transform.

    Shapes
    ------
    - signals and coefficients: ``(n, channels)``
    - frequencies, levels: ``(n,)``

    Examples
    --------
    >>> import wavemmf as wm
    >>> basis = WaveletBasis(wm.factorize(wm.graphs.karate(), core=8, k=4), threshold=0.0)
    >>> x = torch.randn(34, 3)
    >>> torch.allclose(basis.synthesize(basis.analyze(x)), x, atol=1e-4)
    True
    """

    core_indices: torch.Tensor
    core_vectors: torch.Tensor
    discarded: torch.Tensor
    operator: SparseOperator | None
    layer: MMFLayer | None

    def __init__(
        self,
        factorization: Factorization,
        method: str = "auto",
        threshold: float = 1e-3,
        learn: bool = False,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        if not isinstance(factorization, Factorization):
            raise InputTypeError(
                f"expected a Factorization, got {type(factorization).__name__}; "
                "compute one with wavemmf.factorize"
            )
        check_choice("method", method, _FORMS)
        if learn and method == "sparse":
            raise InvalidInputError(
                'a basis is learned through its rotations: learn=True takes method="rotations"'
            )
        self.learn = learn
        self._keep_facts(factorization, dtype)
        self._choose(factorization, "rotations" if learn else method, threshold, dtype)

    @classmethod
    def from_state_dict(
        cls, state: Mapping[str, torch.Tensor], learn: bool = False
    ) -> WaveletBasis:
        """Build the basis that a ``state_dict()`` describes, without its factorization.

        Examples
        --------
        >>> import wavemmf as wm
        >>> basis = WaveletBasis(wm.factorize(wm.graphs.karate(), core=8, k=4))
        >>> WaveletBasis.from_state_dict(basis.state_dict())
        WaveletBasis(n=34, levels=26, core=8, method='...', nnz_share=...)
        """
        missing = [name for name in _FACTS if name not in state]
        if missing:
            raise InvalidInputError(f"the state of a WaveletBasis must hold {', '.join(missing)}")
        basis = cls.__new__(cls)
        torch.nn.Module.__init__(basis)
        basis.learn = learn
        basis.operator = basis.layer = None
        state = {**state, "levels": _as_relative(state["levels"], state["frequencies"].dtype)}
        for name in _FACTS:
            basis.register_buffer(name, state[name].clone())
        dtype = state["frequencies"].dtype
        if "operator.values" in state:
            basis.operator = SparseOperator(sp.csr_array((1, 1)), dtype)
        else:
            basis._hold_rotations(_saved_rotations(state), dtype)
        basis.load_state_dict(state)
        return basis

    @property
    def num_levels(self) -> int:
        """Number of levels of the factorization."""
        wavelets = torch.ones_like(self.levels, dtype=torch.bool)
        wavelets[self.core_indices] = False
        return self.levels[wavelets].unique().numel()

    @property
    def method(self) -> str:
        """How the transform is computed: "sparse" or "rotations"."""
        return "rotations" if self.operator is None else "sparse"

    @property
    def nnz(self) -> int:
        """Numbers that a transform of one signal multiplies with."""
        layer = self.layer
        entries = self._sparse().nnz if layer is None else layer.base.numel()
        return entries + self.core_vectors.numel()

    @property
    def nnz_share(self) -> float:
        """`nnz` as a part of the entries of a dense basis."""
        return self.nnz / self.n**2

    def analyze(self, x: torch.Tensor) -> torch.Tensor:
        """Return the coefficients ``W' x`` of signals of shape (n, channels)."""
        self._check(x)
        if self.layer is not None:
            c = analyze(x, self.layer.rotations, self._blocks(self.layer))
        else:
            c = self._sparse()(x)
        return self._turn_core(c, self.core_vectors.T)

    def synthesize(self, c: torch.Tensor) -> torch.Tensor:
        """Return the signals ``W'^T c``: the inverse of `analyze`."""
        self._check(c)
        c = self._turn_core(c, self.core_vectors)
        if self.layer is not None:
            return synthesize(c, self.layer.rotations, self._blocks(self.layer))
        return self._sparse().adjoint(c)

    def extra_repr(self) -> str:
        """Describe the size and the method."""
        return (
            f"n={self.n}, levels={self.num_levels}, "
            f"core={self.core_indices.numel()}, method={self.method!r}, "
            f"nnz_share={self.nnz_share:.4f}"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.extra_repr()})"

    # -- construction -------------------------------------------------------------------------

    def _keep_facts(self, f: Factorization, dtype: torch.dtype) -> None:
        frequencies, levels, vectors = diagonalized(f)
        self.register_buffer("frequencies", torch.from_numpy(frequencies).to(dtype))
        self.register_buffer("levels", torch.from_numpy(levels).to(dtype))
        self.register_buffer("core_indices", torch.from_numpy(f.core_indices.copy()))
        self.register_buffer("core_vectors", torch.from_numpy(vectors).to(dtype))
        self.register_buffer("discarded", torch.zeros((), dtype=torch.float64))

    def _choose(self, f: Factorization, method: str, threshold: float, dtype: torch.dtype) -> None:
        self.operator = self.layer = None
        by_rotations = f.transform_multiplications + _ROTATION_OVERHEAD * f.num_levels
        if method == "auto" and _sampled_nonzeros(f, threshold) > _CLEARLY * by_rotations:
            method = "rotations"
        if method != "rotations":
            matrix, discarded = basis_matrix(f.rotations, threshold)
            if method == "sparse" or matrix.nnz <= by_rotations:
                self.operator = SparseOperator(matrix, dtype)
                self.discarded.fill_(discarded)
                return
        self._hold_rotations(f.rotations, dtype)

    def _hold_rotations(self, rotations: Rotations, dtype: torch.dtype) -> None:
        self.layer = MMFLayer(rotations.to_full(), dtype)
        self.layer.theta.requires_grad_(self.learn)

    # -- transform ----------------------------------------------------------------------------

    def _blocks(self, layer: MMFLayer) -> torch.Tensor:
        # Rotations that are not learned stay at their base, and the solves can be spared.
        return layer.blocks if self.learn else layer.base

    def _sparse(self) -> SparseOperator:
        if self.operator is None:
            raise InvalidInputError("this basis is kept as rotations, not as a sparse matrix")
        return self.operator

    def _turn_core(self, c: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
        if not self.core_indices.numel():
            return c
        return c.index_copy(0, self.core_indices, turn.to(c.dtype) @ c[self.core_indices])

    def _check(self, x: torch.Tensor) -> None:
        if x.ndim != 2 or x.shape[0] != self.n:
            raise InvalidInputError(
                f"the basis takes signals of shape ({self.n}, channels), got {tuple(x.shape)}"
            )


def _sampled_nonzeros(f: Factorization, threshold: float) -> float:
    """Return about how many entries above the threshold the basis has, from a few of its rows."""
    if f.n <= _SAMPLE_FROM:
        return 0.0  # the basis is made in no time
    sample = np.random.default_rng(0).choice(f.n, _SAMPLED_ROWS, replace=False)
    rows = rows_of_basis(f.rotations, np.sort(sample))
    return float(np.count_nonzero(np.abs(rows) > threshold)) * f.n / _SAMPLED_ROWS


def _as_relative(levels: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return levels as parts of the last; earlier versions saved them as integers."""
    if levels.is_floating_point():
        return levels
    return torch.from_numpy(relative_levels(levels.cpu().numpy())).to(levels.device, dtype)


def _saved_rotations(state: Mapping[str, torch.Tensor]) -> Rotations:
    names = ("offsets", "groups", "drop_offsets", "wavelets")
    arrays: dict[str, Any] = {name: state[f"layer.{name}"].cpu().numpy() for name in names}
    # What was rounded to float32 is orthogonal only to that precision; the rotations are checked.
    blocks = _orthogonal(state["layer.base"].cpu().double().numpy(), np.diff(arrays["offsets"]))
    return Rotations(n=state["frequencies"].numel(), blocks=blocks, **arrays)


def _orthogonal(
    packed: npt.NDArray[np.float64], sizes: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return packed blocks turned into the nearest orthogonal ones."""
    result = packed.copy()
    starts = np.concatenate([[0], np.cumsum(sizes**2)])[:-1]
    for size in np.unique(sizes):
        where = starts[sizes == size][:, None, None] + np.arange(size**2).reshape(size, size)
        left, _, right = np.linalg.svd(packed[where])
        result[where] = left @ right
    return result
