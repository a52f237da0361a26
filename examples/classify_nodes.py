"""Train a wavelet network on a citation graph, and look at what its filter has learned.

    python examples/classify_nodes.py [--dataset cora] [--epochs 200]

Writes classify_nodes.png (gain of every wavelet by frequency, before and after) and
classify_nodes.safetensors. Needs the extras torch and plot; cora is downloaded unless
WAVEMMF_DATA names a folder that holds it, karate needs no data.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import matplotlib.pyplot as plt
import torch

import wavemmf as wm


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="cora", choices=wm.nn.DATASETS)
    parser.add_argument("--epochs", type=int, default=200)
    arguments = parser.parse_args()

    problem = wm.nn.load_problem(arguments.dataset)
    preset = wm.nn.PRESETS["best"]
    basis = problem.basis(**preset.basis)
    operators = (basis, problem.hops, problem.similar(preset.net.neighbors))
    print(problem, basis, sep="\n")

    torch.manual_seed(0)
    net = wm.nn.WaveletNet(problem.num_features, problem.num_classes)
    before = gains(net, basis)
    split = wm.nn.make_split("60/20/20", problem.y.numpy(), seed=0)
    outcome = wm.nn.train_nodes(
        net,
        lambda: net(problem.features, *operators),
        problem.y,
        split,
        replace(preset.training, epochs=arguments.epochs),
    )
    print(f"accuracy on validation nodes {outcome.validation_accuracy:.3f}")
    print(f"accuracy on test nodes       {outcome.test_accuracy:.3f}")
    print(f"epochs {outcome.epochs}, {outcome.seconds:.1f} s")
    wm.nn.save_net(net, basis, "classify_nodes.safetensors", *operators[1:])
    draw(basis, before, gains(net, basis))


def gains(net: wm.nn.WaveletNet, basis: wm.nn.WaveletBasis) -> torch.Tensor:
    return net.propagation.filter(basis)[:, 0].detach()


def draw(basis: wm.nn.WaveletBasis, before: torch.Tensor, after: torch.Tensor) -> None:
    figure, axes = plt.subplots(figsize=(6, 4))
    for values, label in ((before, "before"), (after, "after")):
        axes.plot(basis.frequencies, values, ".", markersize=3, label=f"{label} training")
    axes.set(xlabel="frequency of the wavelet", ylabel="gain")
    axes.legend()
    figure.tight_layout()
    figure.savefig("classify_nodes.png", dpi=150)


if __name__ == "__main__":
    main()
