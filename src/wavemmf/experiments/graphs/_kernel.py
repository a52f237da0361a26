"""The Weisfeiler-Leman subtree kernel with a support vector machine, to compare with."""

from __future__ import annotations

import time
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..._optional import require
from ._folds import Fold, Integers
from ._problem import GraphProblem
from ._trial import Trial
from ._wl import refined_colours

__all__ = ["DEPTHS", "PENALTIES", "subtree_kernels", "train_kernel"]

Floats = npt.NDArray[np.float64]

#: What the kernel is chosen among: numbers of refinements, and penalties C of the machine.
DEPTHS = (1, 2, 3, 4, 5)
PENALTIES = (0.1, 1.0, 10.0, 100.0)


def subtree_kernels(problem: GraphProblem) -> list[Floats]:
    """Return the kernel between all graphs for every depth, scaled to ones on the diagonal.

    The kernel of depth h counts pairs of nodes with the same colour after 0, 1, ..., h rounds.

    References
    ----------
    N. Shervashidze et al., Weisfeiler-Lehman graph kernels, JMLR 2011.

    Examples
    --------
    >>> import wavemmf as wm
    >>> cycle = wm.graphs.cycle(4)
    >>> kernels = subtree_kernels(GraphProblem("same", [cycle, cycle], [0, 1]))
    >>> round(float(kernels[0][0, 1]), 6)
    1.0
    """
    colours = refined_colours(problem.graphs, problem.node_labels, max(DEPTHS))
    sizes = [graph.n for graph in problem.graphs]
    owner = np.repeat(np.arange(len(problem)), sizes)
    total = np.zeros((len(problem), len(problem)))
    kernels = []
    for depth, each in enumerate(colours):
        ones = np.ones(each.size)
        counts = sp.csr_array(sp.coo_array((ones, (owner, each))))
        total += (counts @ counts.T).toarray()
        if depth in DEPTHS:
            scale = np.sqrt(np.diagonal(total))
            kernels.append(total / np.outer(scale, scale))
    return kernels


def train_kernel(problem: GraphProblem, fold: Fold, kernels: list[Floats]) -> Trial:
    """Fit support vector machines, and choose depth and penalty by the validation graphs.

    The machine that was chosen is fitted again with the validation graphs. Without validation
    graphs there is one prediction for every choice, so that a protocol may choose.
    """
    start = time.perf_counter()
    choices = list(product(kernels, PENALTIES))
    certain = np.eye(problem.num_classes)
    if fold.validation is None:
        found = [_predict(k, problem.y, fold.train, fold.test, c) for k, c in choices]
        return Trial([certain[each] for each in found], [], [], time.perf_counter() - start)
    wanted = problem.y[fold.validation]
    curve = [
        float((_predict(k, problem.y, fold.train, fold.validation, c) == wanted).mean())
        for k, c in choices
    ]
    best = int(np.argmax(curve))
    everything = np.concatenate([fold.train, fold.validation])
    kernel, penalty = choices[best]
    prediction = _predict(kernel, problem.y, everything, fold.test, penalty)
    return Trial([certain[prediction]], [best], [curve], time.perf_counter() - start)


def _predict(kernel: Floats, y: Integers, train: Integers, test: Integers, penalty: float) -> Any:
    svm = require("sklearn.svm", extra="sklearn").SVC(C=penalty, kernel="precomputed")
    svm.fit(kernel[np.ix_(train, train)], y[train])
    return svm.predict(kernel[np.ix_(test, train)])
