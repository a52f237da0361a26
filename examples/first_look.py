"""
A first look
============

Factorize a small graph, and see what its wavelets are.
"""

# %%
# The karate club is a social network of 34 people. Its normalized Laplacian is factorized: 26
# levels rotate eight coordinates each and set one of them aside as a wavelet, and eight
# coordinates are left over, the core.

import matplotlib.pyplot as plt
import numpy as np

import wavemmf as wm

graph = wm.graphs.karate()
f = wm.factorize(graph, core=8, k=8)
print(f)
print(f"relative error {f.relative_error():.4f}")

# %%
# The rotations were computed level by level. Optimised together they fit better.

learned = wm.factorize(graph, core=8, k=8, optimize="lbfgs", steps=200)
print(f"relative error {learned.relative_error():.4f}")

# %%
# A signal on the graph has one number per person. Its transform has one number per wavelet and
# one per scaling function of the core, and nothing is lost on the way back.

signal = np.random.default_rng(0).standard_normal(34)
coefficients = learned.analyze(signal)
print("back and forth", np.abs(learned.synthesize(coefficients) - signal).max())

# %%
# Wavelets of early levels live on few nodes, those of late levels on wider parts; the last one
# is the smoothest pattern there is, of frequency zero. The fourth picture is one of the eight
# scaling functions, which span what no level has set aside.

figure, axes = plt.subplots(2, 2, figsize=(9, 7.5), layout="constrained")
for level, ax in zip((1, 13, 26), axes.flat, strict=False):
    wm.plot.wavelet(learned, level, graph, ax=ax)
wm.plot.scaling_function(learned, 0, graph, ax=axes.flat[3])
plt.show()
