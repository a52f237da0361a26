"""Experiments: run several methods on one matrix and put their figures side by side."""

from ._compare import ComparisonRow, compare
from ._csvfile import save_comparison_csv
from ._methods import METHODS
from ._plots import save_comparison_plot, save_tradeoff_plot

__all__ = [
    "METHODS",
    "ComparisonRow",
    "compare",
    "save_comparison_csv",
    "save_comparison_plot",
    "save_tradeoff_plot",
]
