"""Relative errors of closed-form rotations, beside those of the C++ library pMMF.

    python benchmarks/study_closed_form.py [--record results/closed-form.json]

Matrices are normalized Laplacians, except the Kronecker matrix, which is taken as it is. Nothing
is random: the errors are the same on every processor and in every order of the rows.
"""

from __future__ import annotations

import argparse
import sys

import wavemmf as wm
from wavemmf.experiments._published import PMMF
from wavemmf.experiments.records import Recorder, add_record_option

# Names, with the size of the core and the sizes of the rotations.
CASES = (
    ("karate", 8, (2, 4, 8)),
    ("cayley", 8, (2, 4, 8)),
    ("kronecker", 16, (2, 4, 8, 16)),
    ("minnesota", 264, (2, 3, 4)),
    ("grid", 100, (2, 4, 8)),
    ("cora", 100, (8,)),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_record_option(parser)
    keep = Recorder(parser.parse_args().record)
    rows = []
    for name, core, sizes in CASES:
        matrix = wm.graphs.grid(32, 32) if name == "grid" else wm.graphs.named(name)
        for k in sizes:
            f = wm.factorize(matrix, core=core, k=k)
            row = {"matrix": name, "n": f.n, "core": core, "k": k, "error": f.error()}
            row |= {"relative_error": f.relative_error(), "pmmf": PMMF.get((name, k))}
            rows.append(row)
            print(f"{name:10} k={k:<2} {f.error():9.4f} {f.relative_error():.4f}", flush=True)
    keep("study_closed_form", [name for name, _, _ in CASES], {"seed": 0}, [], rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
