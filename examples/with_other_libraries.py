"""
With other libraries
====================

networkx, SciPy, PyTorch Geometric and scikit-learn.
"""

# %%
# Anything that holds a graph or a symmetric matrix can be factorized. A graph of **networkx**
# is taken by its normalized Laplacian.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from scipy.sparse.linalg import cg

import wavemmf as wm

network = nx.les_miserables_graph()
f = wm.factorize(network, core=10, k=4)
print(f)

# %%
# The approximation is a linear operator of **SciPy**, so its iterative methods take it.

shifted = f.shifted(0.1)
b = np.ones(f.n)
x, _ = cg(shifted.as_linear_operator(), b, rtol=1e-10)
print("difference to the direct solution", np.abs(x - shifted.solve(b)).max())

# %%
# A transform of **PyTorch Geometric** adds the wavelet basis to the data, for networks of your
# own.

import torch  # noqa: E402
from torch_geometric.utils import from_networkx  # noqa: E402

data = wm.nn.AddWaveletBasis(k=4)(from_networkx(network))
conv = wm.nn.WaveletConv(1, 4)
print(conv(torch.ones(f.n, 1), wm.nn.BatchBasis(data)).shape)

# %%
# ``wm.MMF`` is an estimator of **scikit-learn**. On the covariance of the pixels of handwritten
# digits it finds wavelets that follow how pixels vary together, and a pipeline chooses the most
# telling ones.

from sklearn.datasets import load_digits  # noqa: E402
from sklearn.feature_selection import SelectKBest  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

images, digits = load_digits(return_X_y=True)
images = images / 16.0
for name, first in (("pixels", []), ("wavelets", [wm.MMF(core=8, k=4, affinity="covariance")])):
    model = make_pipeline(*first, SelectKBest(k=16), LogisticRegression(max_iter=1000))
    print(f"16 {name:<9} accuracy {cross_val_score(model, images, digits, cv=3).mean():.3f}")

# %%
# Some of these wavelets, from the first level to the last.

f = wm.MMF(core=8, k=4, affinity="covariance").fit(images).factorization_
figure, axes = plt.subplots(1, 5, figsize=(11, 2.6), layout="constrained")
for ax, level in zip(axes, (1, 15, 30, 45, 56), strict=True):
    wavelet = f.wavelet(level).reshape(8, 8)
    most = np.abs(wavelet).max()
    ax.imshow(wavelet, cmap="RdBu_r", vmin=-most, vmax=most)
    ax.set(title=f"level {level}", xticks=[], yticks=[])
plt.show()
