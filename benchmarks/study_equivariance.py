"""How much a trained network depends on the order of the nodes.

    python benchmarks/study_equivariance.py [MUTAG | NCI1 | ...] [--renumberings 3] [--record FILE]

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
from wavemmf.experiments.records import Recorder, add_record_option
from wavemmf.nn.graphs.settings import GraphPreset, preset_for
from wavemmf.nn.graphs.train import train_graphs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", nargs="?", default="MUTAG", choices=wm.nn.GRAPH_DATASETS)
    parser.add_argument("--renumberings", type=int, default=3)
    add_record_option(parser)
    arguments = parser.parse_args()
    keep = Recorder(arguments.record)
    torch.set_num_threads(1)
    problem = wm.nn.load_graph_problem(arguments.dataset, cache=True)
    outer = wm.nn.make_folds(problem.y, seed=0)[0]
    best = preset_for("best", arguments.dataset)
    rows = {
        "best": best,
        "best, one network": _with(best, members=1),
        "best, one network, without hops": _with(best, members=1, hop=False),
        "k = 2 greedy, one, without hops": replace(
            _with(best, members=1, hop=False), basis={"k": 2}
        ),
    }
    print(f"{arguments.dataset}, {len(outer.test)} test graphs of the first fold\n")
    print(f"{'network':<34}accuracy  renumbered  same class  change of probabilities")
    measured = []
    for name, preset in rows.items():
        nets = trained(problem, outer, preset)
        told = [
            wm.nn.equivariance(nets, problem, preset.basis, outer.test.tolist(), seed)
            for seed in range(arguments.renumberings)
        ]
        means = {key: np.mean([each[key] for each in told]) for key in told[0]}
        print(
            f"{name:<34}{100 * means['accuracy']:8.2f}{100 * means['accuracy_permuted']:12.2f}"
            f"{100 * means['agreement']:12.2f}{means['difference']:18.3f}",
            flush=True,
        )
        measured.append({"network": name, **means})
    settings, seeds = {"renumberings": arguments.renumberings}, range(arguments.renumberings)
    keep("study_equivariance", [arguments.dataset], settings, seeds, measured)


def _with(preset: GraphPreset, members: int, hop: bool = True) -> GraphPreset:
    return replace(
        preset,
        net=replace(preset.net, hop=hop),
        training=replace(preset.training, members=members),
    )


def trained(
    problem: wm.nn.GraphProblem, outer: wm.nn.Fold, preset: GraphPreset
) -> list[torch.nn.Module]:
    """Return the members of a committee, each with its hold-out and its numbering."""
    nets: list[torch.nn.Module] = []
    for member in range(preset.training.members):
        torch.manual_seed(member)
        channels = problem.num_features, problem.num_classes
        net = wm.nn.GraphWaveletNet(*channels, **preset.net.to_json())
        fold = wm.nn.inner_holdout(outer, problem.y, 0, member)
        data = problem.data({**preset.basis, "numbering": member})
        train_graphs(net, data, fold, preset.training, seed=member)
        nets.append(net)
    return nets


if __name__ == "__main__":
    main()
