"""Signals in bases adapted to them, and as bytes: street intersections of Toronto.

    python benchmarks/study_adapted.py [--only terms] [--only bits] [--record F]

terms   relative error of the largest 5, 10, 20 and 30 % of the coefficients: the wavelets as they
        are (streets of weight 1/length), adapted by setting nodes aside, and adapted with the best
        of all candidates that `adapt` makes of the graph. "apart" counts coefficients only,
        "counted" has fewer of them by what the side information could say
bits    bits per node at relative errors from 0.3 to 0.01: wavelets as they are, allowed to set
        nodes aside, and the same whole numbers by zlib
"""

from __future__ import annotations

import argparse
import math
import sys
import zlib
from typing import Any

import numpy as np

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option
from wavemmf.experiments.signals import toronto
from wavemmf.signals import adapt, best_terms, compress
from wavemmf.signals._adapt import _makers
from wavemmf.signals._packed import unpack

SHARES = (0.05, 0.1, 0.2, 0.3)
ERRORS = (0.3, 0.2, 0.1, 0.05, 0.01)
Row = dict[str, Any]


def terms() -> list[Row]:
    graph, signals = toronto()
    weighted = wm.graphs.weights_from_lengths(graph, "coordinates")
    one = [wm.wavelets(weighted)]
    # Made once for all shares and signals.
    every = {name: make(name).basis for name, make in _makers(graph).items()}
    rows = []
    for of, x in signals.items():
        for kind, given in (("1/length, k = 2", one), ("those of the graph", every)):
            for share in SHARES:
                found = adapt(x, given, share=share)
                kept = round(share * graph.n)
                fewer = kept - math.ceil(found.side_terms)
                rows.append({
                    "what": "terms", "signal": of, "candidates": kind, "share": share,
                    "name": found.name, "set_aside": found.set_aside,
                    "side_bits": found.side_bits,
                    "fixed": best_terms(found.candidate, x, kept).error,
                    "apart": best_terms(found.factorization, x, kept).error,
                    "counted": best_terms(found.factorization, x, fewer).error,
                })  # fmt: skip
    return rows


def bits() -> list[Row]:
    graph, signals = toronto()
    f = wm.wavelets(wm.graphs.weights_from_lengths(graph, "coordinates"))
    rows = []
    for of, x in signals.items():
        for error in ERRORS:
            fixed, adapted = (compress(x, f, error=error, adapt=a) for a in (False, True))
            numbers = unpack(fixed.data, f.rotations).numbers
            # The sign as lowest bit; low bytes first and then high ones, if there are any.
            folded = (2 * np.abs(numbers) + (numbers < 0)).astype("<u2")
            planes = folded.view(np.uint8).reshape(-1, 2).T[: 1 + int(folded.max() > 255)]
            plain = zlib.compress(planes.tobytes(), 9)
            rows.append({
                "what": "bits", "signal": of, "error": error, "fixed": fixed.bits_per_node,
                "adapted": adapted.bits_per_node, "set_aside": adapted.set_aside,
                "zlib": 8 * len(plain) / graph.n,
            })  # fmt: skip
    return rows


def show(row: Row) -> None:
    figures = {k: f"{v:.3f}" if isinstance(v, float) else v for k, v in row.items() if k != "what"}
    print("| " + " | ".join(f"{name} {value}" for name, value in figures.items()) + " |")


def main() -> int:
    studies = {"terms": terms, "bits": bits}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=list(studies))
    add_record_option(parser)
    given = parser.parse_args()
    keep = Recorder(given.record)
    chosen = given.only or list(studies)
    rows = []
    for name in chosen:
        for row in studies[name]():
            show(row)
            rows.append(row)
        sys.stdout.flush()
    keep("study_adapted", chosen, {"shares": SHARES, "errors": ERRORS}, [], rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
