"""How much a trained network depends on the order of the nodes.

    python benchmarks/study_equivariance.py [MUTAG | NCI1 | ...] [--renumberings 3]

Trains on the first fold of protocol "honest" (seed 0), with the accurate factorizations of the
preset "best" and with those of the paper (greedy, k = 2), then renumbers the nodes of its test
graphs at random, factorizes them anew, and classifies them again.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
import torch

import wavemmf as wm
from wavemmf.nn.graphs.settings import preset_for
from wavemmf.nn.graphs.train import train_graphs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", nargs="?", default="MUTAG", choices=wm.nn.GRAPH_DATASETS)
    parser.add_argument("--renumberings", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    problem = wm.nn.load_graph_problem(arguments.dataset, cache=True)
    fold = wm.nn.inner_holdout(wm.nn.make_folds(problem.y, seed=0)[0], problem.y, seed=0)
    best = preset_for("best", arguments.dataset)
    rows = {
        "best": best,
        "best, without hops": replace(best, net=replace(best.net, hop=False)),
        "best, k = 2 greedy, without hops": replace(
            best, net=replace(best.net, hop=False), basis={"k": 2}
        ),
    }
    print(f"{arguments.dataset}, {len(fold.test)} test graphs of the first fold\n")
    print(f"{'network':<34}accuracy  renumbered  same class  change of scores")
    for name, preset in rows.items():
        torch.manual_seed(0)
        channels = problem.num_features, problem.num_classes
        net = wm.nn.GraphWaveletNet(*channels, **preset.net.to_json())
        train_graphs(net, problem.data(preset.basis), fold, preset.training, seed=0)
        told = [
            wm.nn.equivariance(net, problem, preset.basis, fold.test.tolist(), seed)
            for seed in range(arguments.renumberings)
        ]
        means = {key: np.mean([each[key] for each in told]) for key in told[0]}
        print(
            f"{name:<34}{100 * means['accuracy']:8.2f}{100 * means['accuracy_permuted']:12.2f}"
            f"{100 * means['agreement']:12.2f}{means['difference']:18.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
