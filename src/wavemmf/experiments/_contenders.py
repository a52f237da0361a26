"""The methods that can be compared, all called in one way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from .._factorize import factorize
from .._progress import Progress, silent
from .._validation import Matrix, check_choice, check_memory
from ..baselines import nystrom, truncated_eigh, truncated_jacobi
from ..errors import InvalidInputError
from ..factorization import Factorization

__all__ = [
    "CONTENDERS",
    "RESTARTS",
    "Approximated",
    "Case",
    "Contender",
    "check_affordable",
    "choose_methods",
]

# Left out of the default methods beyond so many rows: dense work is cubic.
_DENSE_UP_TO = 4096
_LEARNED_UP_TO = 1024

#: The method that is run on request only, and how many restarts it makes unless told.
_ON_REQUEST = "learned-restarts"
RESTARTS = 100


class Approximated(Protocol):
    """What a `Factorization` and an `Approximation` have in common."""

    def error(self) -> float:
        """Return the Frobenius error."""

    def relative_error(self) -> float:
        """Return the error divided by the norm of the matrix."""

    @property
    def stored_numbers(self) -> int:
        """Numbers needed to keep it."""

    @property
    def multiplications(self) -> int:
        """Multiplications for one product with a vector."""

    @property
    def basis_nonzeros(self) -> int:
        """Non-zero entries of its basis."""

    @property
    def stored_bytes(self) -> int:
        """Bytes of its numbers and indices in a file."""


@dataclass(frozen=True)
class Case:
    """One matrix and the settings to approximate it with.

    Attributes
    ----------
    matrix : ndarray or csr_array
        The symmetric matrix.
    core, k, drop, seed : int
        As for `wavemmf.factorize`; the core is the rank of the low-rank methods.
    engine : str
        As for `wavemmf.factorize`.
    budget : int
        Multiplications per product that truncated_jacobi may use.
    steps, restarts : int
        Optimisation steps of the learned factorizations, and restarts of learned-restarts.
    progress : callable
        Progress of the optimisation.
    """

    matrix: Matrix
    core: int
    k: int
    drop: int
    seed: int = 0
    engine: str = "auto"
    budget: int = 0
    steps: int = 500
    restarts: int = RESTARTS
    progress: Progress = silent


@dataclass(frozen=True)
class Contender:
    """How to run a method, and what is known about it.

    Attributes
    ----------
    run : callable
        From a `Case` to a `Approximated`.
    random : bool
        Whether the seed matters.
    dense : bool
        Whether it works on a dense matrix whatever it is given.
    sparse : bool
        Whether it can use the sparse engine, if only for a part of the work.
    """

    run: Callable[[Case], Approximated]
    random: bool = False
    dense: bool = True
    sparse: bool = False


def _selecting(select: str) -> Callable[[Case], Approximated]:
    def run(case: Case) -> Factorization:
        return _factorize(case, case.k, case.drop, select)

    return run


def _compact(case: Case) -> Approximated:
    return factorize(
        case.matrix, case.core, case.k, rotations="compact", seed=case.seed, engine=case.engine
    )


def _greedy_pairs(case: Case) -> Approximated:
    return _factorize(case, 2, 1, "greedy")


def _factorize(case: Case, k: int, drop: int, select: str) -> Factorization:
    return factorize(case.matrix, case.core, k, drop, select, seed=case.seed, engine=case.engine)


def _learned(case: Case) -> Approximated:
    return _optimized(case, restarts=0)


def _learned_restarts(case: Case) -> Approximated:
    return _optimized(case, restarts=case.restarts)


def _optimized(case: Case, restarts: int) -> Factorization:
    result = factorize(
        case.matrix, case.core, case.k, case.drop, optimize="lbfgs", steps=case.steps,
        restarts=restarts, seed=case.seed, engine=case.engine, progress=case.progress,
    )  # fmt: skip
    if result.history.stopped == "interrupted":
        # The optimiser kept what it had, but a table must not mix it with complete runs.
        raise KeyboardInterrupt
    return result


def _nystrom(case: Case) -> Approximated:
    return nystrom(case.matrix, case.core, case.seed)


def _truncated_eigh(case: Case) -> Approximated:
    return truncated_eigh(case.matrix, case.core)


def _truncated_jacobi(case: Case) -> Approximated:
    # A product with V diag V.T takes 4 multiplications per rotation, twice, and n.
    spare = case.budget - case.matrix.shape[0]
    return truncated_jacobi(case.matrix, max(1, spare // 8))


#: The methods by name, in the order in which they are shown.
CONTENDERS: dict[str, Contender] = {
    "learned": Contender(_learned, sparse=True),
    "learned-restarts": Contender(_learned_restarts, random=True),
    "greedy": Contender(_selecting("greedy"), dense=False, sparse=True),
    "compact": Contender(_compact, dense=False, sparse=True),
    "greedy-k2": Contender(_greedy_pairs, dense=False, sparse=True),
    "neighbors": Contender(_selecting("neighbors"), random=True),
    "random": Contender(_selecting("random"), random=True),
    "nystrom": Contender(_nystrom, random=True),
    "truncated_eigh": Contender(_truncated_eigh),
    "truncated_jacobi": Contender(_truncated_jacobi),
}


def choose_methods(
    methods: Iterable[str] | str | None, n: int | None = None, restarts: int | None = None
) -> list[str]:
    """Return the names of the methods to run, each once, all known.

    Parameters
    ----------
    methods : list of str, optional
        What the user asked for; None for every method that is quick enough.
    n : int, optional
        Number of rows, where the answer may depend on it.
    restarts : int, optional
        If given, ``"learned-restarts"`` is among them.

    Examples
    --------
    >>> choose_methods(["random", "greedy", "random"])
    ['random', 'greedy']
    >>> choose_methods(["greedy"], restarts=50)
    ['greedy', 'learned-restarts']
    """
    requested = [] if restarts is None else [_ON_REQUEST]
    if methods is None:
        return [name for name in CONTENDERS if name in requested or _is_default(name, n or 0)]
    asked = [methods] if isinstance(methods, str) else list(methods)
    asked += requested if asked else []
    names = [check_choice("method", name, CONTENDERS) for name in dict.fromkeys(asked)]
    if not names:
        raise InvalidInputError(f"give at least one method; there are {', '.join(CONTENDERS)}")
    return names


def check_affordable(names: Iterable[str], n: int) -> None:
    """Raise TooLargeError if one of the methods needs more memory than there is."""
    dense = [name for name in names if CONTENDERS[name].dense]
    if dense:
        check_memory(6 * 8 * n * n, f"a dense matrix of {n} rows, for {', '.join(dense)},")


def _is_default(name: str, n: int) -> bool:
    if name == _ON_REQUEST:
        return False
    if name == "learned":
        return n <= _LEARNED_UP_TO
    return n <= _DENSE_UP_TO or not CONTENDERS[name].dense
