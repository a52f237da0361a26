"""For which length scales a factorization compresses a Gaussian kernel better than low rank.

    python benchmarks/study_kernels.py [--sizes 500 1000 2000]

Points are drawn from a normal distribution in three dimensions. Low rank is the truncated
eigendecomposition, the best there is, with as many stored numbers as the factorization.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.linalg import eigvalsh
from scipy.spatial.distance import pdist, squareform

import wavemmf as wm

LENGTH_SCALES = (0.05, 0.1, 0.2, 0.5, 1.0, 3.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1000, 2000])
    print("| n | length scale | stored | factorization | low rank |\n|---|---|---|---|---|")
    for n in parser.parse_args().sizes:
        points = np.random.default_rng(0).standard_normal((n, 3))
        squares = squareform(pdist(points, "sqeuclidean"))
        for scale in LENGTH_SCALES:
            kernel = np.exp(-squares / (2.0 * scale**2))
            f = wm.factorize(kernel, core=n // 10, k=4)
            rank = f.stored_numbers // (n + 1)
            values = np.sort(np.abs(eigvalsh(kernel)))
            low = np.linalg.norm(values[: n - rank]) / np.linalg.norm(values)
            share = f.stored_numbers / (n * (n + 1) / 2)
            print(
                f"| {n} | {scale:g} | {share:.1%} | {f.relative_error():.2g} | {low:.2g} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
