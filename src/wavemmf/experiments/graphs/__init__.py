"""Classify whole graphs: data, folds, batches of bases, networks, kernels, protocols."""
