"""From what the user gave as ``optimize`` to an optimiser."""

from __future__ import annotations

from typing import Any

from .._validation import check_choice
from ..errors import InputTypeError, InvalidInputError
from ._first_order import SGD, Adam
from ._lbfgs import LBFGS
from ._settings import Optimizer
from ._stiefel import Stiefel

__all__ = ["OPTIMIZERS", "as_optimizer", "optimizer_class"]

#: The optimisers that `wavemmf.factorize` knows by name.
OPTIMIZERS: dict[str, type[Optimizer]] = {
    method.name: method for method in (LBFGS, Stiefel, SGD, Adam)
}

# The name that Stiefel descent has in older scripts.
_FORMER = {"cayley": Stiefel.name}


def optimizer_class(name: str) -> type[Optimizer]:
    """Return the class of optimisers that a name stands for.

    Examples
    --------
    >>> optimizer_class("cayley") is optimizer_class("stiefel")
    True
    """
    return OPTIMIZERS[check_choice("optimize", _FORMER.get(name, name), tuple(OPTIMIZERS))]


def as_optimizer(optimize: Any, steps: int | None = None) -> Optimizer | None:
    """Return the optimiser that `optimize` stands for.

    Parameters
    ----------
    optimize : str, Optimizer or None
        A name, which stands for the defaults, an optimiser, or None for none.
    steps : int, optional
        Number of steps of an optimiser given by name.

    Examples
    --------
    >>> as_optimizer("lbfgs", steps=20).steps
    20
    """
    if isinstance(optimize, str):
        return optimizer_class(optimize)(steps=steps)
    if steps is not None and isinstance(optimize, Optimizer):
        raise InvalidInputError(
            f"steps={steps!r} is for an optimiser given by name: give "
            f"{type(optimize).__name__}(steps={steps!r}) instead"
        )
    if optimize is None or isinstance(optimize, Optimizer):
        return optimize
    kind = optimize.__name__ if isinstance(optimize, type) else type(optimize).__name__
    raise InputTypeError(
        f"optimize must be one of {', '.join(map(repr, OPTIMIZERS))}, None, or an optimiser such "
        f"as wavemmf.optimize.LBFGS(steps=200), got {kind}"
    )
