"""For which length scales a factorization compresses a Gaussian kernel better than low rank.

    python benchmarks/study_kernels.py [--sizes 500 3000] [--record F]

Points are drawn from a normal distribution in three dimensions. Low rank is the truncated
eigendecomposition, the best there is, with as many stored numbers as the factorization.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from scipy.linalg import eigvalsh
from scipy.spatial.distance import pdist, squareform

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option

LENGTH_SCALES = (0.05, 0.1, 0.2, 0.5, 1.0, 3.0)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 3000])
    add_record_option(parser)
    given = parser.parse_args()
    keep = Recorder(given.record)
    print("| n | length scale | stored | factorization | low rank |\n|---|---|---|---|---|")
    rows = [row for n in given.sizes for row in measured(n)]
    keep("study_kernels", [f"normal-{n}" for n in given.sizes], {"k": 4}, [0], rows)


def measured(n: int) -> Iterator[dict[str, float]]:
    """Compress the kernels of n points, and print a row of the table for each."""
    points = np.random.default_rng(0).standard_normal((n, 3))
    squares = squareform(pdist(points, "sqeuclidean"))
    for scale in LENGTH_SCALES:
        kernel = np.exp(-squares / (2.0 * scale**2))
        f = wm.factorize(kernel, core=n // 10, k=4)
        rank = f.stored_numbers // (n + 1)
        values = np.sort(np.abs(eigvalsh(kernel)))
        row = {
            "n": n,
            "length_scale": scale,
            "stored": f.stored_numbers / (n * (n + 1) / 2),
            "factorization": f.relative_error(),
            "low_rank": float(np.linalg.norm(values[: n - rank]) / np.linalg.norm(values)),
        }
        print(
            f"| {n} | {scale:g} | {row['stored']:.1%} | {row['factorization']:.2g} | "
            f"{row['low_rank']:.2g} |",
            flush=True,
        )
        yield row


if __name__ == "__main__":
    main()
