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
print(conv(torch.ones(f.n, 1), data.wavelet_basis).shape)

# %%
# Wavelet coefficients as features for **scikit-learn**: how many of them are needed to describe
# the degree of every character?

degrees = np.array([degree for _, degree in network.degree()], dtype=float)
wm.plot.sparse_approximation(f, degrees)
plt.show()
