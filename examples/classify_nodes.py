"""
Classify nodes
==============

A wavelet network on a graph, and what its filter has learned.
"""

# %%
# The data are the karate club, whose members fell out and split in two. With ``"cora"`` in
# place of ``"karate"`` this is the experiment on a citation graph (downloaded if
# ``WAVEMMF_DATA`` names no folder that has it).

import matplotlib.pyplot as plt
import torch

import wavemmf as wm
from wavemmf.experiments import nodes

problem = nodes.load_node_problem("karate")
recipe = nodes.NODE_RECIPES["wavelet"]
basis = problem.basis(**recipe.basis)
operators = (basis, problem.hops, problem.similar(recipe.net.neighbors))
print(problem, basis, sep="\n")

# %%
# The network classifies every node by its own features and then spreads the scores: a few hops
# exactly, all that lies beyond them by a filter on the wavelets.

torch.manual_seed(0)
net = wm.nn.WaveletNet(problem.num_features, problem.num_classes)
before = net.propagation.filter.gains(basis)[:, 0].detach()
split = nodes.make_split("60/20/20", problem.y.numpy(), seed=0)
outcome = nodes.train_nodes(
    net, lambda: net(problem.features, *operators), problem.y, split, recipe.training
)
print(f"accuracy on test nodes {outcome.test_accuracy:.2f} after {outcome.best_epoch} epochs")

# %%
# The gain of every wavelet before and after.

after = net.propagation.filter.gains(basis)[:, 0].detach()
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(basis.frequencies, before, "o", label="before training")
ax.plot(basis.frequencies, after, "^", label="after training")
ax.set(xlabel="frequency of the wavelet", ylabel="gain")
ax.legend()
plt.show()
