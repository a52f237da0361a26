"""
Wavelets on the cortex
======================

How thick the cortex is, on a patch of the surface of the brain, and how deep its folds are.
"""

# %%
# The surface is the average brain that comes with nilearn: a triangle mesh of the left hemisphere.
# To be quick, the page takes the 2500 vertices around one of them. Without nilearn there is
# nothing to show.

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.csgraph import breadth_first_order

import wavemmf as wm
from wavemmf.experiments.signal_data import signal_problem
from wavemmf.experiments.signals import eigenvector_basis, haar_basis

try:
    whole, thickness = signal_problem("cortex", "thickness", None)
    depth = signal_problem("cortex", "depth", None)[1]
except wm.errors.MissingDependencyError as missing:
    whole = None
    print(missing)

# %%
# Neighbours are the more alike the shorter the edge between them. The basis is made for the patch
# once, and serves every map on it.

if whole is not None:
    nodes = np.sort(breadth_first_order(whole.adjacency, 4000)[0][:2500])
    patch = wm.graphs.Graph(whole.adjacency[nodes][:, nodes])
    points = whole.coordinates[nodes]
    f = wm.wavelets(patch)
    basis = f.basis()
    figure = plt.figure(figsize=(13, 4), layout="constrained")
    views = {
        "thickness": thickness[nodes],
        "a wavelet": basis[[f.rotations.wavelets[-40]]].toarray()[0],
        "a coarser one": basis[[f.rotations.wavelets[-3]]].toarray()[0],
    }
    for place, (name, values) in enumerate(views.items()):
        ax = figure.add_subplot(1, 3, place + 1, projection="3d")
        ax.scatter(*points.T, c=values, s=5, cmap="cividis")
        ax.set(title=name, xticks=[], yticks=[], zticks=[])
    plt.show()

# %%
# Relative error of the largest coefficients, for both maps.

if whole is not None:
    bases = {
        "wavelets": f.analyze,
        "Haar": haar_basis(patch).__matmul__,
        "eigenvectors": eigenvector_basis(patch).__matmul__,
    }
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    maps = {"thickness": thickness[nodes], "depth of the folds": depth[nodes]}
    for ax, (title, x) in zip(axes, maps.items(), strict=True):
        for name, analyze in bases.items():
            energy = np.cumsum(np.sort(analyze(x) ** 2))[::-1] / (x @ x)
            kept = round(0.5 * len(x))
            ax.semilogy(100 * np.arange(kept) / len(x), np.sqrt(energy[:kept]), label=name)
        ax.set(title=title, xlabel="coefficients kept, % of all", ylabel="relative error")
    axes[0].legend()
    plt.show()
