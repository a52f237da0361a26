"""The laboratory: everything named after a data set, a protocol, a baseline or a published number.

`compare` puts approximations of one matrix side by side. `wavemmf.experiments.nodes` and
`wavemmf.experiments.graphs` classify (with torch), `wavemmf.experiments.node_table`,
`wavemmf.experiments.graph_table` and `wavemmf.experiments.figures` run the tables and figures of
the paper again. The library knows nothing of this package.

>>> import wavemmf as wm
>>> from wavemmf.experiments import compare
>>> [row.method for row in compare(wm.graphs.karate(), [8], methods=["greedy", "nystrom"])]
['greedy', 'nystrom']
"""

from ._compare import ComparisonRow, compare
from ._contenders import CONTENDERS
from ._csvfile import save_comparison_csv, save_csv
from ._plots import save_comparison_plot, save_tradeoff_plot

__all__ = [
    "CONTENDERS",
    "ComparisonRow",
    "compare",
    "save_comparison_csv",
    "save_comparison_plot",
    "save_csv",
    "save_tradeoff_plot",
]
