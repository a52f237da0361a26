"""Tables of records: what a command prints, made of its record and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ..errors import InvalidInputError
from ._published import PUBLISHED_GRAPHS
from .records import Record

__all__ = ["Table", "table_of"]

Row = Mapping[str, Any]
Cells = Sequence[str]


@dataclass(frozen=True)
class Table:
    """A table as text.

    Attributes
    ----------
    headings : sequence of str
        Of the columns. If there are none, rows are names and values: the facts of one result.
    sections : sequence of sequences of rows
        The cells of every row, as text.
    title : str
        What stands above it, if anything.
    """

    headings: Cells
    sections: Sequence[Sequence[Cells]]
    title: str = ""


def table_of(record: Record) -> Table:
    """Return the table of a record.

    Parameters
    ----------
    record : Record
        As the commands ``compare``, ``classify`` and ``reproduce`` make it.

    Returns
    -------
    Table

    Raises
    ------
    InvalidInputError
        If such records have no table, or this one does not hold what its table shows.

    Examples
    --------
    >>> from wavemmf.experiments.records import Recorder
    >>> values = [{"n": 46, "k": 8, "core": 7, "levels": 39, "relative_error": 0.0123}]
    >>> record = Recorder(None)("reproduce fig2", ["cayley_tree(3, 4)"], {}, [], values)
    >>> table_of(record).sections
    [[('relative error', '0.0123')]]
    """
    if record.what not in _TABLES:
        raise InvalidInputError(
            f"records of {record.what!r} have no table; those of {', '.join(_TABLES)} have one"
        )
    try:
        return _TABLES[record.what](record)
    except (LookupError, TypeError, ValueError) as error:
        raise InvalidInputError(
            f"the record of {record.what!r} does not hold what its table shows: {error!r}"
        ) from error


# -- texts --


def _accuracy(mean: float | None, std: float | None) -> str:
    """Return a mean and a standard deviation in per cent.

    Examples
    --------
    >>> _accuracy(0.8, 0.0123)
    '80.00 ± 1.23'
    """
    return "" if mean is None or std is None else f"{100 * mean:.2f} ± {100 * std:.2f}"


def _gain(mean: float | None, error: float | None) -> str:
    """Return a difference of accuracies and its standard error in per cent, with a sign."""
    return "" if mean is None or error is None else f"{100 * mean:+.2f} ± {100 * error:.2f}"


def _test(row: Row) -> str:
    return _accuracy(row["accuracy_mean"], row["accuracy_std"])


def _distinct(row: Row) -> str:
    return _accuracy(row["without_duplicates_mean"], row["without_duplicates_std"])


def _sections(rows: Sequence[Row], *names: str) -> list[list[Row]]:
    """Return rows in sections of neighbours that agree in the values of these names."""
    return [list(part) for _, part in groupby(rows, lambda row: [row[name] for name in names])]


# -- wavemmf compare --


def _compare(record: Record) -> Table:
    settings, spread = record.settings, any(row["error_std"] is not None for row in record.values)
    headings = ["method", "core", "error", "std", "relative\nerror", "stored\nnumbers"]
    headings += ["bytes", "multipli-\ncations", "non-\nzeros", "seconds"]
    if not spread:
        headings.remove("std")
    return Table(
        headings,
        [[_compared(row, spread) for row in part] for part in _sections(record.values, "core")],
        f"{record.data[0]}: n = {settings['n']}, k = {settings['k']}, drop = {settings['drop']}",
    )


def _compared(row: Row, spread: bool) -> Cells:
    std = "" if row["error_std"] is None else f"{row['error_std']:.2g}"
    stored = (row["stored_numbers"], row.get("stored_bytes") or "")
    counts = (*stored, row["multiplications"], row["basis_nonzeros"])
    return [
        row["method"],
        str(row["core"]),
        f"{row['error']:.4g}",
        *[std] * spread,
        f"{row['relative_error']:.3g}",
        *map(str, counts),
        f"{row['seconds']:.3f}",
    ]


# -- wavemmf classify --


def _compared_signals(record: Record) -> Table:
    settings = record.settings
    headings = ["basis", *(f"{share:.0%}" for share in settings["shares"])]
    headings += ["seconds", "MB", "non-zeros\nper vector"]
    title = f"{record.data[0]}, {settings['signal']}: n = {settings['n']}"
    if any(row["adapted"] for row in record.values):
        title += " (* chosen for the signal, which the number of coefficients does not count)"
    return Table(headings, [[_one_basis(row) for row in record.values]], title)


def _one_basis(row: Row) -> Cells:
    nonzeros = "" if row["nonzeros"] is None else f"{row['nonzeros']:.1f}"
    errors = (f"{error:.3f}" for error in row["errors"])
    name = row["basis"] + " *" * row["adapted"]
    return (name, *errors, f"{row['seconds']:.2f}", f"{row['megabytes']:.1f}", nonzeros)


def _nodes(record: Record) -> Table:
    first = record.values[0]
    if len(record.values) == 1:
        return Table([], [list(_facts_of_nodes(first).items())])
    area = ["test ROC AUC"] if _area(first) else []
    return Table(
        ["network", *area, "test accuracy", f"{first['model']} is better by", "ms per epoch"],
        [
            [
                [
                    row["model"],
                    *_area(row).values(),
                    _test(row),
                    _better(row, first),
                    _milliseconds(row),
                ]
                for row in record.values
            ]
        ],
        f"{first['dataset']}, {first['protocol']}, {first['runs']} runs",
    )


def _area(row: Row) -> dict[str, str]:
    """Return the area under the ROC curve as a fact, if there is one."""
    if "roc_auc_mean" not in row:
        return {}
    return {"test ROC AUC": _accuracy(row["roc_auc_mean"], row["roc_auc_std"])}


def _facts_of_nodes(row: Row) -> dict[str, str]:
    facts = {
        "data set": row["dataset"],
        "protocol": row["protocol"],
        "network": f"{row['model']}, {row['settings']['parameters']} parameters",
        "runs": f"{row['runs']}, seeds {row['seeds'][0]} to {row['seeds'][-1]}",
        **_area(row),
        "test accuracy": _test(row),
        "validation accuracy": f"{100 * row['validation_accuracy_mean']:.2f}",
        "time": f"{_milliseconds(row)} ms per epoch",
    }
    if "basis" in row["settings"]:
        facts["basis"] = f"{100 * row['settings']['basis']['nnz_share']:.2f} % of a dense one"
    return facts


def _graphs(record: Record) -> Table:
    first = record.values[0]
    if len(record.values) == 1:
        return Table([], [list(_facts_of_graphs(first).items())])
    return Table(
        ["model", "test accuracy", "without duplicates", f"{first['model']} is better by", "s"],
        [
            [
                [row["model"], _test(row), _distinct(row), _better(row, first), _seconds(row)]
                for row in record.values
            ]
        ],
        f"{first['dataset']}, protocol {first['protocol']}, {first['runs']} runs",
    )


def _facts_of_graphs(row: Row) -> dict[str, str]:
    left_out = f"({100 * row['duplicates_share']:.1f} % of test graphs left out)"
    facts = {
        "data set": row["dataset"],
        "protocol": f"{row['protocol']}: {row['protocol_in_words']}",
        "folds": f"{len(row['accuracies'][0])} {row['folds']}",
        "model": row["model"],
        "seeds": f"{row['seeds'][0]} to {row['seeds'][-1]}",
        "test accuracy": _test(row),
        "without duplicates": f"{_distinct(row)} {left_out}",
        "training": f"{_seconds(row)} s",
    }
    if row["basis"]:
        facts["basis"] = (
            f"{100 * row['basis']['nonzeros']:.2f} % non-zeros, "
            f"relative error {row['basis']['relative_error']:.4f} (means over graphs)"
        )
    return facts


def _better(row: Row, first: Row) -> str:
    return "" if row is first else _gain(row["difference_mean"], row["difference_standard_error"])


def _milliseconds(row: Row) -> str:
    return f"{1000 * row['seconds_per_epoch']:.1f}"


def _seconds(row: Row) -> str:
    return f"{row['seconds']:.0f}"


# -- wavemmf reproduce --


def _table1(record: Record) -> Table:
    cells = _sections(record.values, "dataset", "split")
    best = [next((row for row in cell if row["best_baseline"]), None) for cell in cells]
    below = [
        ["best baseline", *("" if row is None else row["model"] for row in best)],
        ["wavelet is better by", *(_gain_over(row) for row in best)],
        ["numbers in the basis, %", *map(_shares, cells)],
    ]
    return Table(
        ["", *(f"{cell[0]['dataset']} {cell[0]['split']}" for cell in cells)],
        [
            [["paper, as published", *(_published(cell[0]["paper"]) for cell in cells)]],
            [[row[0]["model"], *map(_test, row)] for row in zip(*cells, strict=True)],
            below,
        ],
        f"test accuracy, mean ± standard deviation over {record.values[0]['runs']} seeds",
    )


def _gain_over(row: Row | None) -> str:
    return "" if row is None else _gain(row["wavelet_better_by"], row["standard_error"])


def _published(accuracy: float | None) -> str:
    return "" if accuracy is None else f"{accuracy:.2f}"


def _shares(cell: Sequence[Row]) -> str:
    return ", ".join(
        f"{100 * row['basis_nonzeros']:.2f} ({row['model']})"
        for row in cell
        if row["model"] in ("wavelet", "wavelet-sparse")
    )


def _table2(record: Record) -> Table:
    headings = ["data set", "model", "protocol", "test accuracy", "without duplicates", "runs"]
    return Table(headings, [_one_data_set(rows) for rows in _sections(record.values, "dataset")])


def _one_data_set(rows: Sequence[Row]) -> list[Cells]:
    name = rows[0]["dataset"]
    ours: list[Cells] = [
        [name, row["model"], row["protocol"], _test(row), _distinct(row), str(row["runs"])]
        for row in rows
    ]
    return ours + [
        [name, f"as published: {who}", "", f"{accuracy:.2f}", "", ""]
        for who, accuracy in PUBLISHED_GRAPHS.get(name, {}).items()
    ]


def _figure1(record: Record) -> Table:
    methods = list(dict.fromkeys(row["method"] for row in record.values))
    sections = []
    for rows in _sections(record.values, "title"):
        errors = {(row["core"], row["method"]): f"{row['error']:.4g}" for row in rows}
        sections.append(
            [
                [rows[0]["title"], str(core), *(errors[core, method] for method in methods)]
                for core in dict.fromkeys(row["core"] for row in rows)
            ]
        )
    return Table(["error in the Frobenius norm", "core", *methods], sections)


def _figure2(record: Record) -> Table:
    return Table([], [[("relative error", f"{record.values[0]['relative_error']:.3g}")]])


def _long_range(record: Record) -> Table:
    headings = ["roads", "network", "layers", "dropout", "test accuracy", "validation"]
    headings += ["ours is better by", "s per epoch", "MB kept", "reach", "runs"]
    return Table(
        headings,
        [list(map(_one_depth, rows)) for rows in _sections(record.values, "dataset")],
        "16-hop eccentricity in deciles; differences are paired, to our network of the best depth",
    )


def _one_depth(row: Row) -> Cells:
    reach = "" if row["reach"] is None else f"{row['reach']:.1f}"
    return [
        row["dataset"],
        row["model"],
        str(row["layers"]),
        str(row["dropout"]),
        _test(row),
        f"{100 * row['validation_accuracy_mean']:.2f}",
        _gain(row["ours_better_by"], row["standard_error"]),
        f"{row['seconds_per_epoch']:.3f}",
        f"{row['megabytes']:.0f}",
        reach,
        str(len(row["seeds"])),
    ]


# -- studies --

_TITLES = {
    "karate": "Karate",
    "cayley": "Cayley tree",
    "kronecker": "Kronecker",
    "minnesota": "Minnesota roads",
    "grid": "32×32 grid",
    "cora": "Cora",
}


def _closed_forms(record: Record) -> Table:
    rows = [_one_matrix(rows) for rows in _sections(record.values, "matrix")]
    return Table(["matrix", "core", "k", "wavemmf", "pMMF"], [rows])


def _one_matrix(rows: Sequence[Row]) -> Cells:
    first = rows[0]
    name = f"{_TITLES.get(first['matrix'], first['matrix'])}, n = {first['n']}"
    errors = " / ".join(_short(row["relative_error"]) for row in rows)
    pmmf = " / ".join("–" if row["pmmf"] is None else _short(row["pmmf"]) for row in rows)
    return [name, str(first["core"]), " / ".join(str(row["k"]) for row in rows), errors, pmmf]


def _short(error: float) -> str:
    """Return an error with three digits after the point, or one that counts if it is smaller.

    Examples
    --------
    >>> _short(0.1234), _short(0.00081)
    ('.123', '.0008')
    """
    return (f"{error:.3f}" if error >= 0.002 else f"{error:.1g}").removeprefix("0")


_TABLES: dict[str, Callable[[Record], Table]] = {
    "compare": _compare,
    "compare signals": _compared_signals,
    "classify nodes": _nodes,
    "classify graphs": _graphs,
    "reproduce table1": _table1,
    "reproduce table2": _table2,
    "reproduce long-range": _long_range,
    "reproduce fig1": _figure1,
    "reproduce fig2": _figure2,
    "study_closed_form": _closed_forms,
}
