"""
Compress a kernel matrix
========================

Error against stored numbers, beside low-rank methods.
"""

# %%
# The matrix: a Gaussian kernel between images of handwritten digits. A wide kernel is smooth
# and nearly of low rank, and then low-rank methods are hard to beat. A narrow one is mostly
# local, and a low-rank approximation has to keep almost everything.

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_digits

import wavemmf as wm

pixels = load_digits().data[:400] / 16.0
squares = squareform(pdist(pixels, "sqeuclidean"))
typical = np.median(squares)
kernels = {
    "wide kernel": np.exp(-squares / typical),
    "narrow kernel": np.exp(-8.0 * squares / typical),
}

# %%
# All methods are judged by the numbers they store, not by the size of the core: that would
# favour rotations, which are stored too.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for (name, kernel), ax in zip(kernels.items(), axes, strict=True):
    n = len(kernel)
    for k, style in ((2, "o-"), (4, "s-")):
        made = [wm.factorize(kernel, core=core, k=k) for core in (20, 60, 120, 200)]
        stored = [f.stored_numbers / n**2 for f in made]
        ax.plot(stored, [f.relative_error() for f in made], style, label=f"wavelets, k = {k}")
    for method, style in ((wm.baselines.nystrom, "^:"), (wm.baselines.truncated_eigh, "v:")):
        made = [method(kernel, core) for core in (5, 20, 60, 120)]
        stored = [a.stored_numbers / n**2 for a in made]
        ax.plot(stored, [a.relative_error() for a in made], style, label=made[0].method)
    ax.set(title=name, xlabel="stored numbers, share of the matrix", yscale="log")
axes[0].set_ylabel("relative error")
axes[0].legend()
plt.show()
