"""Which graphs a network learns from, is chosen by, and is tested on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..._subsets import check_subsets
from ..._validation import check_choice, check_integer
from ...datasets import data_file
from ...errors import FileFormatError, InvalidInputError
from ...io._text import read_integers

__all__ = ["FOLDS", "Fold", "inner_holdout", "make_folds"]

Integers = npt.NDArray[np.int64]

#: Stratified folds drawn by a seed; the fixed folds of DGCNN; those of the paper.
FOLDS = ("stratified", "dgcnn", "paper")
_FILES = {"dgcnn": ("10fold_idx", 1), "paper": ("refsplit", 0)}
_PARTS = 10


@dataclass(frozen=True, eq=False)
class Fold:
    """Disjoint sets of graphs, as indices, at least one each; `validation` may be missing.

    Raises
    ------
    InvalidInputError, InputTypeError
        If a set is empty, or a graph is in two of them; the message names it.

    Examples
    --------
    >>> Fold(np.array([0, 1]), np.array([2])).validation is None
    True
    """

    train: Integers
    test: Integers
    validation: Integers | None = None

    def __post_init__(self) -> None:
        for name, indices in check_subsets("graph", **self.sets).items():
            object.__setattr__(self, name, indices)

    @property
    def sets(self) -> dict[str, Integers]:
        """The sets that there are, by name."""
        given = {"train": self.train, "test": self.test, "validation": self.validation}
        return {name: indices for name, indices in given.items() if indices is not None}


def make_folds(
    y: npt.ArrayLike, kind: str = "stratified", seed: int = 0, count: int = 10, dataset: str = ""
) -> list[Fold]:
    """Return the outer folds of a cross-validation.

    Parameters
    ----------
    y : int array
        The class of every graph.
    kind : str
        One of `FOLDS`. The fixed ones are read from the folder of the data set.
    seed, count : int
        Seed and number of stratified folds; of fixed folds, the first `count` are taken.
    dataset : str
        Name of the data set, for fixed folds.

    Returns
    -------
    list of Fold

    Examples
    --------
    >>> [fold.test.size for fold in make_folds([0] * 6 + [1] * 4, count=5)]
    [2, 2, 2, 2, 2]
    """
    check_choice("folds", kind, FOLDS)
    check_integer("seed", seed, 0)
    classes = np.asarray(y)
    if kind != "stratified":
        return _fixed(kind, dataset, classes.size, check_integer("number of folds", count, 1, 10))
    count = check_integer(f"number of folds (for {classes.size} graphs)", count, 2, classes.size)
    part = _deal(classes, np.random.default_rng(seed), count)
    return [Fold(np.flatnonzero(part != i), np.flatnonzero(part == i)) for i in range(count)]


def inner_holdout(fold: Fold, y: npt.ArrayLike, seed: int = 0, part: int = 0) -> Fold:
    """Return a fold with a stratified tenth of its training graphs moved to `validation`.

    Parameters
    ----------
    fold : Fold
        Without validation graphs.
    y : int array
        The class of every graph.
    seed : int
        Deals the training graphs into ten parts.
    part : int
        Which of the ten is held out.

    Examples
    --------
    >>> fold = inner_holdout(make_folds([0, 1] * 50)[0], [0, 1] * 50)
    >>> fold.train.size, fold.validation.size, fold.test.size
    (81, 9, 10)
    """
    if fold.train.size < 2:
        raise InvalidInputError("a hold-out takes at least two training graphs")
    check_integer("part", part, 0, _PARTS - 1)
    held = _deal(np.asarray(y)[fold.train], np.random.default_rng(seed), _PARTS) == part
    if not held.any():
        raise InvalidInputError(
            f"{fold.train.size} training graphs are too few for hold-out {part}"
        )
    return replace(fold, train=fold.train[~held], validation=fold.train[held])


def _deal(classes: Integers, rng: np.random.Generator, count: int) -> Integers:
    """Return a part for every graph: classes shuffled and dealt out like cards."""
    order = rng.permutation(classes.size)
    order = order[np.argsort(classes[order], kind="stable")]
    part = np.empty(classes.size, np.int64)
    part[order] = np.arange(classes.size) % count
    return part


def _fixed(kind: str, dataset: str, size: int, count: int) -> list[Fold]:
    folder, first = _FILES[kind]
    folds = []
    for number in range(first, first + count):
        train, test = (
            _indices(f"TUDataset/{dataset}/{folder}/{part}_idx-{number}.txt", size)
            for part in ("train", "test")
        )
        try:
            folds.append(Fold(train, test))
        except InvalidInputError as error:
            raise FileFormatError(
                f"fold {number} of {dataset} tests on graphs it trains on: {error}"
            ) from error
    return folds


def _indices(name: str, size: int) -> Integers:
    path = data_file(name)
    found = read_integers(path)
    if not found.size or found.min() < 0 or found.max() >= size:
        raise FileFormatError(f"{path} must hold indices between 0 and {size - 1}")
    return np.unique(found)
