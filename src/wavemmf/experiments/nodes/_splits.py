"""Which nodes a network learns from, is chosen by, and is tested on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..._subsets import check_inside
from ..._validation import check_choice, check_integer
from ...errors import InvalidInputError
from ...nn._split import Split

__all__ = ["PER_CLASS", "PUBLIC", "SPLITS", "UNIFORM", "Split", "make_split"]

Integers = npt.NDArray[np.int64]

#: Uniform random splits: percentages of training, validation and test nodes.
UNIFORM = {"10/10/80": (10, 10), "20/20/60": (20, 20), "40/20/40": (40, 20), "60/20/20": (60, 20)}
#: Splits that came with the data.
PUBLIC = "public"
#: The "60/20/20" of the GPRGNN literature, which is another protocol; see `make_split`.
PER_CLASS = "60/20/20-per-class"

SPLITS = (*UNIFORM, PUBLIC, PER_CLASS)

_PROTOCOLS = {
    **{name: f"uniform random {name} (training/validation/test)" for name in UNIFORM},
    PUBLIC: "splits that came with the data",
    PER_CLASS: "class-exhausting random 60/20/20 (equal numbers per class; not comparable with "
    "uniform splits)",
}


def make_split(
    name: str,
    labels: npt.ArrayLike,
    seed: int = 0,
    public: Sequence[Integers] | None = None,
) -> Split:
    """Return a split of the nodes; the same name, labels and seed always give the same.

    Parameters
    ----------
    name : str
        One of `SPLITS`. The uniform ones draw nodes at random whatever their class.
        "60/20/20-per-class" draws the same number for every class, 60 % of the nodes divided by
        the number of classes, as in the GPRGNN literature: all nodes of a small class may be used
        up for training, so the test set is of another, easier composition, and accuracies do
        not compare with those of uniform splits.
    labels : int array of shape (n,)
        The classes.
    seed : int
        Seed of the random choice.
    public : three int arrays, optional
        The fixed split that came with the data, for ``name="public"``.

    Returns
    -------
    Split

    Examples
    --------
    >>> split = make_split("60/20/20", np.zeros(10, int))
    >>> split.train.size, split.validation.size, split.test.size
    (6, 2, 2)
    """
    check_choice("split", name, SPLITS)
    check_integer("seed", seed, 0)
    classes = np.asarray(labels)
    if name == PUBLIC:
        if public is None:
            raise InvalidInputError(
                f"this data came with no split; take one of {', '.join(UNIFORM)}"
            )
        train, validation, test = public
        fixed = Split(train, validation, test, _PROTOCOLS[name])
        check_inside("node", classes.size, **fixed.sets)
        return fixed
    rng = np.random.default_rng(seed)
    parts = _per_class(classes, rng) if name == PER_CLASS else _uniform(classes, rng, name)
    train, validation, test = (np.sort(part) for part in parts)
    if not (train.size and validation.size and test.size):
        raise InvalidInputError(
            f"split={name!r} of {classes.size} nodes leaves {train.size} for training, "
            f"{validation.size} for validation and {test.size} for tests; each needs one at least"
        )
    return Split(train, validation, test, _PROTOCOLS[name])


def _uniform(classes: Integers, rng: np.random.Generator, name: str) -> list[Integers]:
    order = rng.permutation(classes.size)
    train, validation = (round(share * classes.size / 100) for share in UNIFORM[name])
    return np.split(order, [train, train + validation])


def _per_class(classes: Integers, rng: np.random.Generator) -> list[Integers]:
    order = rng.permutation(classes.size)
    each = round(0.6 * classes.size / max(1, np.unique(classes).size))
    chosen = [order[classes[order] == label][:each] for label in np.unique(classes)]
    train = np.concatenate([np.empty(0, np.int64), *chosen])
    rest = order[~np.isin(order, train)]
    validation, test = np.split(rest, [round(0.2 * classes.size)])
    return [train, validation, test]
