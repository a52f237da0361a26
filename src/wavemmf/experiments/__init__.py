"""Experiments: run several methods on one matrix and put their figures side by side."""

from .compare import ComparisonRow, compare
from .csvfile import save_comparison_csv
from .methods import METHODS
from .plots import save_comparison_plot, save_tradeoff_plot

__all__ = [
    "METHODS",
    "ComparisonRow",
    "compare",
    "save_comparison_csv",
    "save_comparison_plot",
    "save_tradeoff_plot",
]
