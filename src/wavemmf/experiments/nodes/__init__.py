"""Classify the nodes of one graph: data, splits, networks to compare with, training, protocol."""
