"""Networks for nodes as they are run, by name."""

from __future__ import annotations

from dataclasses import replace

from ...nn._plans import NODE_PLANS, NodePlan

__all__ = ["NODE_RECIPES"]


# Entries of a thresholded basis up to this magnitude are left out.
_THRESHOLD = 3e-3


def _make_recipes() -> dict[str, NodePlan]:
    paper, ours, layers = (NODE_PLANS[name] for name in ("paper", "wavemmf", "layers"))
    few_labels = replace(ours.training, epochs=300, agreement=1.0)
    thresholded = {**ours.basis, "method": "sparse", "threshold": _THRESHOLD}
    greedy = {"k": 16, "matrix": "normalized_laplacian"}
    shared = replace(paper, net=replace(paper.net, gains="all", bias=True), basis=greedy)
    return {
        "wavelet": ours,
        "wavelet-paper": paper,
        "wavelet-shared": shared,
        "wavelet-end-to-end": replace(shared, basis={**greedy, "learn": True}),
        "wavelet-few-labels": replace(ours, training=few_labels),
        "wavelet-sparse": replace(ours, basis=thresholded),
        "wavelet-no-similar": replace(ours, net=replace(ours.net, similar_hops=0)),
        "wavelet-layers": layers,
        "hops-only": replace(ours, net=replace(ours.net, filter="none")),
    }


#: Wavelet networks by name. "wavelet" is our own. "wavelet-layers" has layers of wavelets
#: and one hop, for what depends on nodes far away. "wavelet-paper" is that of the paper: a filter
#: for every pair of channels, in a basis whose rotations were optimised. "wavelet-shared" and
#: "wavelet-end-to-end" have its layers with one set of gains for all channels, a fraction of the
#: memory: in a greedy basis, or in one whose rotations train with the network. The others
#: are ours with something changed: made to agree with itself on nodes without labels, on a basis
#: without small entries, without hops between nodes that are alike, without wavelets.
NODE_RECIPES = _make_recipes()
