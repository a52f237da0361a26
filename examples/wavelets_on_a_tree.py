"""
Wavelets on a tree
==================

The figure of the paper: wavelets of a Cayley tree with 46 vertices, at three levels.
"""

# %%
# A Cayley tree has the same structure at every scale: it is what the method was made for. With
# rotations of 2 coordinates the wavelets stay as local as they can.

import matplotlib.pyplot as plt

import wavemmf as wm

tree = wm.graphs.cayley_tree(3, 4)
f = wm.factorize(tree, core=6, k=2)
print(f)

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for level, ax in zip((1, 20, 39), axes, strict=True):
    wm.plot.wavelet(f, level, tree, ax=ax)
plt.show()

# %%
# How many nodes a wavelet lives on, and its frequency, by level: supports grow and frequencies
# spread as the tree is merged into larger parts.

basis = f.basis()
print("share of non-zeros in the basis", basis.nnz / f.n**2)
wm.plot.spectrum(f)
plt.show()
