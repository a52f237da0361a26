"""
Precondition a solver
=====================

The inverse of a factorization makes conjugate gradients converge in fewer steps.
"""

# %%
# To solve (L + 0.01) x = b on a grid, conjugate gradients need many steps: the condition number
# is 800. The inverse of a factorization of L costs one pass over its rotations.

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import diags_array
from scipy.sparse.linalg import LinearOperator, cg

import wavemmf as wm

laplacian = wm.graphs.laplacian(wm.graphs.grid(40, 40))
n = laplacian.shape[0]
A = (laplacian + 0.01 * diags_array(np.ones(n))).tocsr()
b = np.random.default_rng(0).standard_normal(n)


def residuals(preconditioner=None):
    norms = [1.0]

    def note(x):
        norms.append(np.linalg.norm(b - A @ x) / np.linalg.norm(b))

    cg(A, b, M=preconditioner, rtol=1e-8, maxiter=500, callback=note)
    return norms


# %%
# A factorization of L is accurate where L is large, on rough vectors. Slow convergence comes from
# smooth ones. So ``wm.precondition.preconditioner`` chooses its rotations where L is small, and
# smooths before and after with two products with A: fewer steps, each of them dearer.

diagonal = A.diagonal()
f = wm.factorize(laplacian, core=160, k=8)
curves = {
    "none": residuals(),
    "diagonal": residuals(LinearOperator((n, n), matvec=lambda x: x / diagonal)),
    "inverse of a factorization of L": residuals(wm.precondition.from_factorization(f, shift=0.01)),
    "wm.precondition.preconditioner": residuals(
        wm.precondition.preconditioner(laplacian, shift=0.01)
    ),
}
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for (name, norms), style in zip(curves.items(), ("-", "--", "-.", ":"), strict=True):
    print(f"{name:<33} {len(norms) - 1} steps")
    ax.semilogy(norms, style, label=name)
ax.set(xlabel="step", ylabel="relative residual")
ax.legend(title="preconditioner")
plt.show()

# %%
# For a single sparse system a direct solver or algebraic multigrid is faster; the table is in
# :doc:`/results`.
