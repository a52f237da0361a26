"""Random numbers inside kernels: a state of one integer, the same numbers everywhere."""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["normal", "scrambled", "seeded", "uniform"]


@jit
def seeded(seed):
    """The state that belongs to a seed."""
    return np.array([np.uint64(seed)], np.uint64)


@jit
def uniform(state):
    """A number from (0, 1), and the state moves on (splitmix64, Steele, Lea and Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return (np.float64(scrambled(state[0]) >> np.uint64(12)) + 0.5) * 2.0**-52


@jit
def scrambled(z):
    """Another number for every number, without any visible order."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@jit
def normal(state):
    """A normal number (Box and Muller)."""
    radius = np.sqrt(-2.0 * np.log(uniform(state)))
    return radius * np.cos(2.0 * np.pi * uniform(state))
