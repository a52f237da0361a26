"""
Wavelets on a city
==================

Counts of pedestrians at the street intersections of Toronto, said by a few wavelets.
"""

# %%
# The graph has an intersection for every node and a street for every edge; a short street ties its
# ends together more than a long one. The data are those of the literature on Haar and Walsh
# functions on graphs; where they are not on this machine, there is nothing to show.

import matplotlib.pyplot as plt
import numpy as np

import wavemmf as wm
from wavemmf.experiments.signals import eigenvector_basis, haar_basis, toronto

try:
    streets, counts = toronto()
except wm.errors.InvalidInputError as missing:
    streets = None
    print(missing)

# %%
# One call makes the basis. It is orthonormal, and it knows nothing of the counts: nodes that a
# walker soon reaches from each other are merged first. The wavelets drawn are a fine one, one of
# medium scale, and a coarse one.

if streets is not None:
    graph = wm.graphs.weights_from_lengths(streets, "coordinates")
    f = wm.wavelets(graph)
    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    for share, ax in zip((0.5, 0.9, 0.995), axes, strict=True):
        wm.plot.wavelet(f, int(share * f.num_levels), graph, ax=ax)
    plt.show()

# %%
# How much of the signal is lost if only the largest coefficients are kept: beside Haar wavelets on
# a tree of spectral bisections, and the eigenvectors of the normalized Laplacian.

if streets is not None:
    x = counts["pedestrians"]
    coefficients = {
        "wavelets": f.analyze(x),
        "Haar": haar_basis(graph) @ x,
        "eigenvectors": eigenvector_basis(graph) @ x,
    }
    figure, ax = plt.subplots(layout="constrained")
    for name, c in coefficients.items():
        energy = np.cumsum(np.sort(c**2))[::-1] / (x @ x)
        kept = round(0.5 * len(x))
        ax.semilogy(100 * np.arange(kept) / len(x), np.sqrt(energy[:kept]), label=name)
    ax.set(xlabel="coefficients kept, % of all", ylabel="relative error")
    ax.legend()
    plt.show()
