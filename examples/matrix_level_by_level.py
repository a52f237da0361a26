"""
A matrix, level by level
========================

What happens to the matrix while it is factorized.
"""

# %%
# Every level rotates a few rows and columns so that one of them becomes nearly diagonal, and
# drops it from what is still active. In the order of their elimination, the dropped coordinates
# leave a diagonal behind, and what was lost is what lies beside it.

import matplotlib.pyplot as plt

import wavemmf as wm

graph = wm.graphs.grid(8, 8)
f = wm.factorize(graph, core=8, k=4)
wm.plot.compression(f, graph)
plt.show()

# %%
# The result H is diagonal but for the core.

wm.plot.h_matrix(f)
plt.show()
