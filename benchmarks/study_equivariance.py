"""How much a trained network depends on the order of the nodes.

    python benchmarks/study_equivariance.py [MUTAG | NCI1 | ...] [--renumberings 3]
                                            [--only greedy] [--record FILE]

Trains on the first fold of protocol "honest" (seed 0), with the accurate factorizations of the
recipe "wavemmf" and with greedy ones (k = 2), then renumbers the nodes of its test
graphs at random, factorizes them anew, and classifies them again.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
import torch

import wavemmf as wm
from wavemmf.experiments.graphs import (
    GRAPH_DATASETS,
    Fold,
    GraphProblem,
    GraphRecipe,
    equivariance,
    inner_holdout,
    load_graph_problem,
    make_folds,
    recipe_for,
    train_graphs,
)
from wavemmf.experiments.records import Recorder, add_record_option


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", nargs="?", default="MUTAG", choices=GRAPH_DATASETS)
    parser.add_argument("--renumberings", type=int, default=3)
    parser.add_argument("--only", default="", help="networks with this in their name")
    add_record_option(parser)
    arguments = parser.parse_args()
    keep = Recorder(arguments.record)
    torch.set_num_threads(1)
    problem = load_graph_problem(arguments.dataset, cache=True)
    outer = make_folds(problem.y, seed=0)[0]
    ours = recipe_for("wavemmf", arguments.dataset)
    alone = _without_hops(ours)
    recipes = {
        ("wavemmf", "wavemmf, one network"): ours,
        ("wavemmf, one network, without hops",): alone,
        ("k = 2 greedy, one, without hops",): replace(alone, basis={"k": 2}),
    }
    print(f"{arguments.dataset}, {len(outer.test)} test graphs of the first fold\n")
    print(f"{'network':<34}accuracy  renumbered  same class  change of probabilities")
    measured = []
    for names, recipe in recipes.items():
        if not any(arguments.only in name for name in names):
            continue
        nets = trained(problem, outer, recipe)
        # One network is the first member of the committee.
        for name, voting in zip(names, (nets, nets[:1]), strict=False):
            told = [
                equivariance(voting, problem, recipe.basis, outer.test.tolist(), seed)
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


def _without_hops(recipe: GraphRecipe) -> GraphRecipe:
    """Return the recipe for one network in which nodes see each other through wavelets alone."""
    return replace(
        recipe,
        net=replace(recipe.net, hop=False),
        training=replace(recipe.training, members=1),
    )


def trained(problem: GraphProblem, outer: Fold, recipe: GraphRecipe) -> list[torch.nn.Module]:
    """Return the members of a committee, each with its hold-out and its numbering."""
    nets: list[torch.nn.Module] = []
    for member in range(recipe.training.members):
        torch.manual_seed(member)
        channels = problem.num_features, problem.num_classes
        net = wm.nn.GraphWaveletNet(*channels, **recipe.net.to_json())
        fold = inner_holdout(outer, problem.y, 0, member)
        data = problem.data({**recipe.basis, "numbering": member})
        train_graphs(net, data, fold, recipe.training, seed=member)
        nets.append(net)
    return nets


if __name__ == "__main__":
    main()
