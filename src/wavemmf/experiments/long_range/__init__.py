"""What lies far away on a graph: the task of City-Networks, on roads of ours and on theirs.

>>> from wavemmf.experiments.long_range import road_problem
>>> import wavemmf as wm
>>> road_problem(wm.graphs.grid(8, 8)).num_classes
10
"""

from __future__ import annotations

from ..._optional import require

require("torch", extra="torch")

from ._city import CITIES, city_problem  # noqa: E402
from ._eccentricity import deciles, eccentricities  # noqa: E402
from ._influence import Influence, influence_by_hop  # noqa: E402
from ._models import LAYER_COUNTS, LONG_RANGE_MODELS, Depth, make_model, parse_models  # noqa: E402
from ._roads import LONG_RANGE_DATASETS, load_long_range_problem, road_problem  # noqa: E402
from ._run import DROPOUTS, TRAINING, LongRangeOutcome, long_range_rows, run_long_range  # noqa: E402

__all__ = [
    "CITIES",
    "DROPOUTS",
    "LAYER_COUNTS",
    "LONG_RANGE_DATASETS",
    "LONG_RANGE_MODELS",
    "TRAINING",
    "Depth",
    "Influence",
    "LongRangeOutcome",
    "city_problem",
    "deciles",
    "eccentricities",
    "influence_by_hop",
    "load_long_range_problem",
    "long_range_rows",
    "make_model",
    "parse_models",
    "road_problem",
    "run_long_range",
]
