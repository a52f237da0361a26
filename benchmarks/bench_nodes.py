"""Node classification on Cora: what an epoch costs against GCN, and the whole way from raw data.

    python benchmarks/bench_nodes.py [--repeats 5] [--models gcn,appnp,...] [--record FILE]

Needs the data folder (WAVEMMF_DATA), torch and PyTorch Geometric. Epochs of all networks are
measured in turns, on one thread; ratios of their medians are reported.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import torch
from timing import alternate

from wavemmf.experiments.nodes import (
    NODE_RECIPES,
    NodeProblem,
    Split,
    classify_nodes,
    load_node_problem,
    make_split,
    train_nodes,
)
from wavemmf.experiments.nodes._models import make_node_model
from wavemmf.experiments.records import Recorder, add_record_option

EPOCHS = 10
Row = dict[str, Any]


def epochs_of(name: str, problem: NodeProblem, split: Split) -> Callable[[], object]:
    model = make_node_model(name, problem, EPOCHS)
    return lambda: train_nodes(model.net, model.scores, problem.y, split, model.training)


def compare_epochs(models: list[str], repeats: int) -> list[Row]:
    problem = load_node_problem("cora", cache=True)
    split = make_split("60/20/20", problem.y.numpy())
    seconds = alternate(
        {name: epochs_of(name, problem, split) for name in ["wavelet", *models]}, repeats
    )
    print(f"wavelet: {1000 * seconds['wavelet'] / EPOCHS:.1f} ms per epoch")
    for name in models:
        print(f"  {seconds['wavelet'] / seconds[name]:.2f} times an epoch of {name}")
    return [{"case": name, "seconds_per_epoch": all_ / EPOCHS} for name, all_ in seconds.items()]


def whole_way() -> Row:
    start = time.perf_counter()
    problem = load_node_problem("cora")
    problem.basis(**NODE_RECIPES["wavelet"].basis)
    ready = time.perf_counter()
    result = classify_nodes(problem, runs=1)
    end = time.perf_counter()
    outcome = result.outcomes[0]
    print(
        f"from files to a trained network: {end - start:.0f} s ({ready - start:.0f} s for reading "
        f"and the basis), {outcome.epochs} epochs, test accuracy {outcome.test_accuracy:.3f}"
    )
    figures = {"seconds": end - start, "seconds_before_training": ready - start}
    return {"case": "from files", **figures, "test_accuracy": outcome.test_accuracy}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--models", default="gcn,appnp,gprgnn,mlp")
    add_record_option(parser)
    arguments = parser.parse_args()
    keep = Recorder(arguments.record)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    models = arguments.models.split(",")
    rows = [*compare_epochs(models, arguments.repeats), whole_way()]
    keep("bench_nodes", ["cora"], {"models": models, "repeats": arguments.repeats}, [0], rows)


if __name__ == "__main__":
    main()
