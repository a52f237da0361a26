"""Which levels set one of their two coordinates aside as it is, instead of rotating them."""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["choose_aside", "inputs_of_levels"]


@jit
def inputs_of_levels(groups, blocks, signals):
    """What every level of two coordinates rotates, (levels, 2, m), if all of them rotate.

    `signals` (n, m) is overwritten with its coefficients.
    """
    inputs = np.empty((groups.size // 2, 2, signals.shape[1]))
    for level in range(len(inputs)):
        i, j = groups[2 * level], groups[2 * level + 1]
        for s in range(signals.shape[1]):
            a, b = signals[i, s], signals[j, s]
            inputs[level, 0, s], inputs[level, 1, s] = a, b
            signals[i, s] = blocks[4 * level] * a + blocks[4 * level + 1] * b
            signals[j, s] = blocks[4 * level + 2] * a + blocks[4 * level + 3] * b
    return inputs


@jit
def _outcome(choice, block, place, a, b):
    """What a level of two coordinates keeps and what it drops.

    `place` is the coordinate that is dropped, 0 or 1. Choice 0 rotates, 1 and 2 drop the first or
    the second coordinate as it is.
    """
    if choice == 1:
        return b, a
    if choice == 2:
        return a, b
    dropped = block[2 * place] * a + block[2 * place + 1] * b
    kept = block[2 - 2 * place] * a + block[3 - 2 * place] * b
    return kept, dropped


@jit
def _level(choice, block, place, inputs, kept, threshold, price):
    """The cost of a level for all signals; what it keeps is written to `kept`.

    A coefficient costs its square, or `threshold` squared if it is larger and has to be said. A
    choice costs `price`, and is not allowed if it drops nothing that has to be said.
    """
    limit = threshold * threshold
    cost = 0.0
    said = False
    for s in range(kept.size):
        kept[s], dropped = _outcome(choice, block, place, inputs[0, s], inputs[1, s])
        cost += min(dropped * dropped, limit)
        said = said or abs(dropped) >= threshold
    if choice != 0:
        cost += price if said else np.inf
    return cost


@jit
def _end(kept, threshold):
    """The cost of what is left in the core."""
    cost = 0.0
    for s in range(kept.size):
        cost += min(kept[s] * kept[s], threshold * threshold)
    return cost


@jit
def _same(a, b):
    for s in range(a.size):
        if a[s] != b[s]:
            return False
    return True


@jit
def _gain(level, choice, choices, blocks, places, parents, slots, inputs, threshold, price, work):
    """How much less everything costs if `level` takes another choice.

    What it keeps goes up a chain of levels to the core, so the cost is the length of the chain.
    """
    before, after, changed = work[0], work[1], work[2:4]
    gain = _level(choices[level], blocks[level], places[level], inputs[level], before, threshold,
                  price)  # fmt: skip
    gain -= _level(choice, blocks[level], places[level], inputs[level], after, threshold, price)
    while not _same(before, after):
        parent = parents[level]
        if parent < 0:
            return gain + _end(before, threshold) - _end(after, threshold)
        changed[:] = inputs[parent]
        changed[slots[level]] = after
        level = parent
        same = (choices[level], blocks[level], places[level])
        gain += _level(*same, inputs[level], before, threshold, price)
        gain -= _level(*same, changed, after, threshold, price)
    return gain


@jit
def _pass_on(level, choices, blocks, places, parents, slots, inputs, kept):
    """Compute again what the levels above `level` are given."""
    while parents[level] >= 0:
        _level(choices[level], blocks[level], places[level], inputs[level], kept, 0.0, 0.0)
        parent, slot = parents[level], slots[level]
        if _same(inputs[parent, slot], kept):
            return
        inputs[parent, slot] = kept
        level = parent


@jit
def choose_aside(blocks, places, parents, slots, inputs, threshold, price, sweeps):
    """Return for every level 0, 1 or 2: rotate, or set the first or second coordinate aside.

    Levels of two coordinates that drop one. Level l rotates ``inputs[l]`` (2, m), of m signals, by
    ``blocks[l]`` and drops the coordinate ``places[l]``; what it keeps is number ``slots[l]`` of
    the level ``parents[l]``, or belongs to the core if that is -1. `inputs` is overwritten. Every
    level in turn takes the choice that costs least while the others stay as they are, until
    nothing changes: O(levels * m * length of chains) per sweep.
    """
    levels = len(parents)
    choices = np.zeros(levels, np.int64)
    work = np.empty((4, inputs.shape[2]))
    for _ in range(sweeps):
        quiet = True
        for level in range(levels):
            best, most = choices[level], 1e-9 * threshold * threshold
            for choice in range(3):
                if choice == choices[level]:
                    continue
                gain = _gain(level, choice, choices, blocks, places, parents, slots, inputs,
                             threshold, price, work)  # fmt: skip
                if gain > most:
                    best, most = choice, gain
            if best != choices[level]:
                choices[level] = best
                quiet = False
                _pass_on(level, choices, blocks, places, parents, slots, inputs, work[0])
        if quiet:
            break
    return choices
