"""What SciPy and NumPy ask of an object that stands for a symmetric matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..errors import TooLargeError

__all__ = ["LikeMatrix"]

_Self = TypeVar("_Self", bound="LikeMatrix")

# Up to so many rows (32 MB) an object becomes an array without being asked by name.
_SMALL = 2000


class LikeMatrix(ABC):
    """A symmetric matrix of float64 known by its products.

    SciPy's solvers take it as it is (``eigsh(f)``, ``cg(f, b)``), and NumPy makes an array of it
    if it is small.

    Examples
    --------
    >>> import wavemmf as wm
    >>> from scipy.sparse.linalg import eigsh
    >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
    >>> largest = eigsh(f, k=1, return_eigenvectors=False)
    >>> bool(np.allclose(largest, f.eigvalsh()[-1]))
    True
    """

    ndim = 2

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""

    @abstractmethod
    def __matmul__(self, x: Any) -> Any: ...

    @abstractmethod
    def to_dense(self) -> npt.NDArray[np.float64]:
        """Return the matrix as a dense array."""

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """The type of the entries: float64."""
        return np.dtype(np.float64)

    @property
    def T(self: _Self) -> _Self:
        """The transpose: the matrix itself, which is symmetric."""
        return self

    def matvec(self, x: npt.ArrayLike) -> Any:
        """Return the product with a vector (n,) or a column (n, 1), as SciPy calls it."""
        return self @ x

    def rmatvec(self, x: npt.ArrayLike) -> Any:
        """Return the product of the transpose with a vector, which is `matvec`."""
        return self.matvec(x)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        n = self.shape[0]
        if n > _SMALL:
            raise TooLargeError(
                f"an array of {n} by {n} numbers is not made in passing (up to {_SMALL} rows "
                "are): call to_dense(), or use the products f @ x"
            )
        if copy is False:
            raise ValueError("copy=False: the entries are computed, there is nothing to share")
        return self.to_dense().astype(dtype or np.float64, copy=False)
