"""
Wavelets on a road network
==========================

A basis for 58,600 crossings in seconds, sparse all the way.
"""

# %%
# The largest component of the roads of Amsterdam. The signal is measured on the map itself: how
# far it is from a crossing to its neighbours, on average, which is little in towns and much in the
# country. Where the map is not on this machine, there is nothing to show.

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

import wavemmf as wm
from wavemmf.experiments.signals import haar_basis, halved_in_space

try:
    roads = wm.datasets.snap("amsterdam-roads")
except wm.errors.InvalidInputError as missing:
    roads = None
    print(missing)

# %%
# Nothing n by n is ever formed: diffusions begin so short that their rows are short too, and are
# squared as the graph becomes coarser. A wavelet has a dozen numbers on average.

if roads is not None:
    component = connected_components(roads.adjacency, directed=False)[1]
    nodes = np.flatnonzero(component == np.argmax(np.bincount(component)))
    points = np.asarray(roads.coordinates, float)[nodes]
    graph = wm.graphs.Graph(sp.csr_array(roads.adjacency[nodes][:, nodes]), coordinates=points)
    ends = sp.coo_array(graph.adjacency)
    lengths = np.linalg.norm(points[ends.row] - points[ends.col], axis=1)
    x = np.log1p(np.bincount(ends.row, lengths) / np.bincount(ends.row))
    f = wm.wavelets(graph)
    print(f.n, "crossings,", f.basis(threshold=1e-3).nnz / f.n, "numbers per wavelet")

# %%
# Relative error of the largest coefficients, beside Haar wavelets on halves in space.

if roads is not None:
    bases = {"wavelets": f.analyze, "Haar": haar_basis(graph, halved_in_space(points)).__matmul__}
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    for name, analyze in bases.items():
        energy = np.cumsum(np.sort(analyze(x) ** 2))[::-1] / (x @ x)
        kept = np.arange(0, f.n // 2, 100)
        right.semilogy(100 * kept / f.n, np.sqrt(energy[kept]), label=name)
    right.set(xlabel="coefficients kept, % of all", ylabel="relative error")
    right.legend()
    kept = wm.signals.best_terms(f, x, share=0.05)
    shades = left.scatter(*points.T, c=kept.signal, s=0.3, cmap="cividis", rasterized=True)
    left.set(title="a twentieth of the coefficients", aspect="equal", xticks=[], yticks=[])
    figure.colorbar(shades, ax=left, label="log of the distance to neighbours")
    plt.show()
