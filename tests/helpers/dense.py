"""Random matrices, rotations and levels, and what kernels do with them as dense algebra."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

#: Rows 0 and 3 meet twice, and so do rows 1 and 2, but what they have in common cancels.
ORTHOGONAL = np.array([[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, -1], [0, 1, -1, 0]], float)


def random_symmetric(n: int, seed: int = 0, density: float = 1.0) -> np.ndarray:
    """Make a random symmetric matrix with both signs, possibly with many zeros."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(n, n)) * (rng.random((n, n)) < density)
    return a + a.T


def random_rotation(size: int, rng: np.random.Generator) -> np.ndarray:
    """Make a random orthogonal matrix."""
    return np.ascontiguousarray(np.linalg.qr(rng.normal(size=(size, size)))[0])


def embedded(block: np.ndarray, rows: np.ndarray, n: int) -> np.ndarray:
    """Return the n-by-n matrix that turns `rows` by the block and leaves the others alone."""
    u = np.eye(n)
    u[np.ix_(rows, rows)] = block
    return u


def squared_loss(matrix: np.ndarray, dropped: np.ndarray) -> float:
    """Squared norm of what is lost with rows and columns: all their entries off the diagonal."""
    off = matrix - np.diag(np.diag(matrix))
    inside = off[np.ix_(dropped, dropped)]
    return float(2 * (off[dropped] ** 2).sum() - (inside**2).sum())


def cost_of_eigenvectors(gram: np.ndarray, block: np.ndarray, count: int) -> float:
    """Half the squared error of `count` eigenvectors of a Gram block, the cheapest one by one."""
    vectors = np.linalg.eigh(gram)[1].T
    chosen: list[int] = []

    def half_loss(rows: list[int]) -> float:
        w = vectors[rows]
        return float(np.trace(w @ gram @ w.T) - ((w @ block @ w.T) ** 2).sum())

    for _ in range(count):
        left = [e for e in range(len(gram)) if e not in chosen]
        chosen.append(min(left, key=lambda e: half_loss([*chosen, e])))
    return half_loss(chosen)


class Levels(NamedTuple):
    """Levels as kernels take them, packed back to back."""

    offsets: np.ndarray
    groups: np.ndarray
    block_offsets: np.ndarray
    blocks: np.ndarray
    drop_offsets: np.ndarray
    wavelets: np.ndarray

    def group(self, level: int) -> np.ndarray:
        return self.groups[self.offsets[level] : self.offsets[level + 1]]

    def dropped(self, level: int) -> np.ndarray:
        return self.wavelets[self.drop_offsets[level] : self.drop_offsets[level + 1]]

    def matrices(self, n: int) -> list[np.ndarray]:
        """U_1, ..., U_L as n-by-n matrices."""
        result = []
        for level, (first, last) in enumerate(pairwise(self.block_offsets)):
            group = self.group(level)
            block = self.blocks[first:last].reshape(group.size, group.size)
            result.append(embedded(block, group, n))
        return result

    def basis(self, n: int) -> np.ndarray:
        """W = U_L ... U_1."""
        w = np.eye(n)
        for u in self.matrices(n):
            w = u @ w
        return w

    def losses(self, matrix: np.ndarray) -> tuple[np.ndarray, list[float]]:
        """Return the rotated matrix, and the squared error that every level adds."""
        n = len(matrix)
        active = np.ones(n, bool)
        rotated, added = matrix.copy(), []
        for level, u in enumerate(self.matrices(n)):
            rotated = u @ rotated @ u.T
            left = np.where(np.outer(active, active), rotated, 0.0)
            added.append(squared_loss(left, self.dropped(level)))
            active[self.dropped(level)] = False
        return rotated, added


def pack(
    groups: list[np.ndarray], blocks: list[np.ndarray], wavelets: list[np.ndarray]
) -> Levels:  # fmt: skip
    """Pack the levels."""
    sizes = np.array([len(group) for group in groups], int)
    return Levels(
        np.cumsum([0, *sizes]), np.concatenate(groups), np.cumsum([0, *sizes**2]),
        np.concatenate([block.ravel() for block in blocks]),
        np.cumsum([0, *(len(each) for each in wavelets)]), np.concatenate(wavelets),
    )  # fmt: skip


def random_levels(
    n: int, sizes: list[int], drops: list[int], seed: int = 0, last_first: bool = False
) -> Levels:
    """Make levels with random groups, blocks and wavelets; or those that drop the last rows."""
    rng = np.random.default_rng(seed)
    active = np.arange(n)
    groups, blocks, wavelets = [], [], []
    for size, drop in zip(sizes, drops, strict=True):
        order = active[::-1] if last_first else rng.permutation(active)
        others = rng.permutation(order[drop:])[: size - drop]
        groups.append(rng.permutation(np.concatenate([order[:drop], others])))
        blocks.append(random_rotation(size, rng))
        wavelets.append(order[:drop])
        active = np.setdiff1d(active, order[:drop])
    return pack(groups, blocks, wavelets)


def first_levels(
    count: int,
    groups: np.ndarray,
    sizes: np.ndarray,
    wavelets: np.ndarray,
    drops: np.ndarray,
    blocks: np.ndarray,
) -> Levels:
    """Pack the first levels out of the arrays into which greedy kernels write them."""
    done = range(count)
    return pack(
        [groups[i, : sizes[i]] for i in done],
        [blocks[i, : sizes[i], : sizes[i]] for i in done],
        [wavelets[i, : drops[i]] for i in done],
    )
