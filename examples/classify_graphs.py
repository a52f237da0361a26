"""
Classify graphs
===============

One filter for graphs of all sizes, judged by cross-validation.
"""

# %%
# Graphs with two kinds of nodes. In one class the kinds lie in patches, in the other the same
# kinds have been dealt out at random: counting them says nothing, one has to see where they
# are.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import wavemmf as wm
from wavemmf.experiments.graphs import GraphProblem, classify_graphs

rng = np.random.default_rng(0)
graphs, classes = [], []
for number in range(80):
    n = int(rng.integers(20, 40))
    places = rng.random((n, 2))
    net = nx.random_geometric_graph(n, 0.3, pos=dict(enumerate(places)))
    labels = (places[:, 0] + 0.15 * rng.standard_normal(n) > 0.5).astype(int)
    if number % 2:
        rng.shuffle(labels)
    graphs.append(wm.graphs.Graph(nx.to_scipy_sparse_array(net), places, labels=labels))
    classes.append(number % 2)
problem = GraphProblem("patches", graphs, classes)
print(problem)

# %%
# The graphs are factorized together, and the gains of the filters are functions of the
# frequency, so they fit all of them. Epochs are chosen on a part of the training graphs; the
# test graphs of a fold are looked at once. ``counts`` sees the numbers of nodes of each kind,
# ``wl`` is the Weisfeiler-Leman kernel.

results = {
    model: classify_graphs(problem, model, folds=4, runs=1, epochs=40)
    for model in ("wavelet", "gin", "wl", "counts")
}
for model, result in results.items():
    print(f"{model:<8} {100 * result.accuracy_mean:5.1f} ± {100 * result.accuracy_std:.1f}")

# %%
# A graph of either class, and the accuracies.

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, number, title in ((axes[0], 0, "in patches"), (axes[1], 1, "at random")):
    graph = graphs[number]
    wm.plot.signal(2.0 * graph.labels - 1.0, graph, ax=ax, title=title, bar=False)
spread = [100 * result.accuracy_std for result in results.values()]
means = [100 * result.accuracy_mean for result in results.values()]
axes[2].bar(list(results), means, yerr=spread, color="tab:blue")
axes[2].set(ylabel="test accuracy in per cent", ylim=(0, 105))
axes[2].axhline(50.0, color="black", linestyle=":", label="chance")
axes[2].legend(loc="lower right")
plt.show()
