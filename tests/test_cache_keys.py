"""What is kept is found again by all that it depends on, and by nothing less."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import wavemmf as wm
from wavemmf._fingerprint import fingerprint
from wavemmf.errors import InputTypeError, InvalidInputError
from wavemmf.experiments import figures
from wavemmf.graphs import partitioner
from wavemmf.select import Evolution, Greedy, Random, Regular

KARATE = wm.graphs.karate()
MATRIX = wm.graphs.normalized_laplacian(KARATE)


def reweighted(graph: Any) -> Any:
    """Return the graph with one edge of another weight: the same pattern, other numbers."""
    adjacency = graph.adjacency.copy()
    row, column = (place[0] for place in adjacency.nonzero())
    adjacency[row, column] = adjacency[column, row] = 2.5
    return replace(graph, adjacency=adjacency)


# -- the function that makes keys --


class OwnSelector:
    name = "own"

    def __init__(self, weight: float) -> None:
        self.weight = weight

    def select(self, matrix: Any, task: Any) -> Any: ...
    def sample(self, matrix: Any, task: Any, count: int) -> Any: ...


class Described(OwnSelector):
    def fingerprint_parts(self) -> Any:
        return self.weight


LONG = np.arange(5000)
MOVED = LONG.copy()
MOVED[2500] = -1

DIFFERENT = [
    (None, 0),
    (0, False),
    (1, 1.0),
    ("1", 1),
    ("1", b"1"),
    (["ab", "c"], ["a", "bc"]),
    ([1, [2]], [[1], 2]),
    ([], {}),
    ([], [None]),
    ({"a": 1}, {"b": 1}),
    ({"a": 1, "b": 2}, {"a": 2, "b": 1}),
    ({1, 2}, {1, 3}),
    (LONG, MOVED),
    ([LONG], [MOVED]),
    (np.zeros(4), np.zeros((2, 2))),
    (np.zeros(4), np.zeros(4, np.float32)),
    (np.zeros(2), np.zeros(2, np.int64)),
    (np.array([[1], [2, 3]], object), np.array([[1], [2, 4]], object)),
    (sp.eye_array(3), sp.eye_array(4)),
    (sp.eye_array(3), 2.0 * sp.eye_array(3)),
    (sp.eye_array(3).toarray(), sp.eye_array(3)),
    (Greedy(), Greedy(pairs="correlated")),
    (Random(), Regular()),
    (Evolution(), Evolution(budget=5)),
    (KARATE, reweighted(KARATE)),
    (Described(1.0), Described(2.0)),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_values_have_different_keys(one: Any, other: Any) -> None:
    assert fingerprint("x", value=one) != fingerprint("x", value=other)
    assert fingerprint("x", value=one) == fingerprint("x", value=one)
    assert fingerprint("x", value=one) != fingerprint("y", value=one)
    assert fingerprint("x", value=one) != fingerprint("x", values=one)


def test_equal_values_have_equal_keys() -> None:
    csr = sp.csr_array(MATRIX)
    same = [
        (np.int64(3), 3),
        ((1, 2), [1, 2]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({3, 1, 2}, {2, 1, 3}),
        (LONG, LONG[::-1][::-1]),
        (csr, sp.csc_array(csr)),
        (csr, sp.csr_array((csr.data, csr.indices.astype(np.int64), csr.indptr), csr.shape)),
        (Described(1.0), Described(1.0)),
    ]
    for one, other in same:
        assert fingerprint("x", value=one) == fingerprint("x", value=other)


def test_tensors_and_policies_are_told_apart_by_their_numbers() -> None:
    torch = pytest.importorskip("torch")
    from wavemmf.rl import Policy

    tensors = [torch.zeros(3), torch.ones(3), torch.zeros(3, 1), torch.zeros(3).bfloat16()]
    tensors += [torch.zeros(3, dtype=torch.int32), torch.zeros(()), torch.zeros(3).bool()]
    policies = [Policy(seed=0), Policy(seed=1)]
    assert len({fingerprint("x", value=value) for value in [*tensors, *policies]}) == 9
    assert fingerprint("x", value=Policy(seed=1)) == fingerprint("x", value=policies[1])
    with pytest.raises(InputTypeError, match="value is a Linear"):
        fingerprint("x", value=torch.nn.Linear(2, 2))
    with pytest.raises(InputTypeError, match="value is a Tensor"):
        fingerprint("x", value=torch.eye(3).to_sparse())


@pytest.mark.parametrize(
    "value",
    [
        print,
        lambda x: x,
        object(),
        Greedy,
        OwnSelector(1.0),
        Path("file"),
        iter([1]),
        np.random.default_rng(0),
        np.ma.masked_array([1.0], [True]),
        fingerprint,
    ],
)
def test_what_cannot_be_told_apart_is_refused(value: Any) -> None:
    for given in (value, [value], {"a": value}):
        with pytest.raises(InputTypeError, match=r"setting.* cannot be told apart by its content"):
            fingerprint("x", setting=given)


def test_keys_depend_on_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint("x", value=1)
    monkeypatch.setattr("wavemmf._fingerprint.__version__", "99")
    assert fingerprint("x", value=1) != before


# -- every cache --


@dataclass(frozen=True)
class Kept:
    """A function that keeps results, its arguments, and each of them changed in turn.

    `work` is what runs if nothing was found. `same` are the arguments that the result does not
    depend on; with `changed` they are all that the function has.
    """

    function: Callable[..., Any]
    work: str
    arguments: dict[str, Any]
    changed: dict[str, list[Any]]
    same: dict[str, Any]
    more: tuple[str, ...] = ()  # arguments under ** in the signature


def node_runs(folder: Path) -> Kept:
    from wavemmf.experiments.nodes import NodeProblem, classify_nodes, load_node_problem

    p = load_node_problem("karate")
    x, y = p.x.clone(), p.y.clone()
    x[3, 3] += 0.5
    y[5] = 1 - y[5]
    public = (np.arange(10), np.arange(10, 20), np.arange(20, 34))
    other = (np.arange(11), np.arange(11, 20), np.arange(20, 34))
    problem = NodeProblem("p", p.graph, p.x, p.y, (public,))
    problems = [
        replace(problem, graph=reweighted(p.graph)),
        replace(problem, graph=wm.graphs.cycle(34)),
        replace(problem, x=x),
        replace(problem, y=y),
        replace(problem, splits=(other,)),
    ]
    return Kept(
        classify_nodes,
        "wavemmf.experiments.nodes._classify.train_nodes",
        {
            "dataset": problem, "split": "public", "model": "gcn", "runs": 1, "seed": 0,
            "epochs": 2, "results": folder,
        },
        {
            "dataset": problems, "split": ["60/20/20", "40/20/40"],
            "model": ["mlp", "appnp", "wavelet"], "seed": [1], "epochs": [3], "runs": [3],
        },
        {"progress": lambda *_: None},
    )  # fmt: skip


def graph_runs(folder: Path) -> Kept:
    from wavemmf.experiments.graphs import GraphProblem, classify_graphs

    graphs = [wm.graphs.cycle(n) for n in range(5, 17)]
    labelled = [replace(graph, labels=np.arange(graph.n) % 2) for graph in graphs]
    relabelled = [replace(graph, labels=np.arange(graph.n) // 2 % 2) for graph in graphs]
    problem = GraphProblem("p", labelled, [0, 1] * 6)
    counts = [np.full((graph.n, 1), 1.0, np.float32) for graph in graphs]
    featured = [replace(graph, features=sp.csr_array(np.ones((graph.n, 1)))) for graph in labelled]
    problems = [
        GraphProblem("p", [*labelled[:-1], reweighted(labelled[-1])], [0, 1] * 6),
        GraphProblem("p", relabelled, [0, 1] * 6),
        GraphProblem("p", labelled, [0, 0, 1, 1] * 3),
        GraphProblem("p", labelled, [0, 1] * 6, edge_counts=counts),
        GraphProblem("p", featured, [0, 1] * 6, attributes=True),
    ]
    return Kept(
        classify_graphs,
        "wavemmf.experiments.graphs._models.train_graphs",
        {
            "dataset": problem, "model": "gin", "protocol": "honest", "split": "stratified",
            "folds": 2, "runs": 1, "seed": 0, "epochs": 1, "members": 1, "results": folder,
        },
        {
            "dataset": problems, "model": ["gcn", "filterless"], "protocol": ["xu"],
            "folds": [3], "seed": [1], "runs": [3], "epochs": [2], "members": [2],
        },
        # The kinds of fixed folds are read from files of data sets, and arrive as other folds.
        {"progress": lambda *_: None, "jobs": 1, "split": "stratified"},
    )  # fmt: skip


def many(folder: Path) -> Kept:
    return Kept(
        wm.factorize_many,
        "wavemmf._many.factorize_chunk",
        {"graphs": [MATRIX, MATRIX], "core": 6, "optimize": "lbfgs", "steps": 2, "cache": folder},
        {
            "graphs": [[MATRIX], [MATRIX, 2.0 * MATRIX], [KARATE, reweighted(KARATE)]],
            "core": [7, 0.2], "k": [3], "drop": [2], "optimize": [None, "adam"], "steps": [3],
            "select": [Greedy(pairs="correlated"), Greedy(survivors="nearest")],
            "matrix": ["laplacian"], "rotations": ["compact"],
        },
        {"progress": lambda *_: None, "executor": None},
    )  # fmt: skip


def bases_on_disk(folder: Path) -> Kept:
    from wavemmf.nn import wavelet_basis
    from wavemmf.rl import Policy

    groups = [[34 - i, 33 - i] for i in range(1, 31)]
    dropped = [[34 - i] for i in range(1, 31)]
    swapped = [groups[0][::-1], *groups[1:]]
    return Kept(
        wavelet_basis,
        "wavemmf.nn._operators.factorize",
        {"graph": KARATE, "core": 8, "k": 4, "cache": folder, "optimize": "lbfgs", "steps": 2},
        {
            "graph": [reweighted(KARATE), wm.graphs.cycle(34)], "core": [7, None], "k": [3],
            "matrix": ["normalized_laplacian"], "optimize": ["adam"], "steps": [3], "drop": [2],
            "select": [
                "neighbors", Random(), Greedy(pairs="correlated"), Evolution(budget=3),
                Evolution(budget=4), Policy(seed=0), Policy(seed=1), Described(1.0), Described(2.0),
            ],
            "restarts": [2, wm.Search(2, finalists=3)], "seed": [5],
            "engine": ["dense"], "rotations": ["compact"],
            "indices": [(groups, dropped), (swapped, dropped)],
        },
        # Method, threshold and learn come after the factorization that is kept.
        {
            "progress": lambda *_: None, "executor": None, "method": "rotations",
            "threshold": 0.1, "learn": False,
        },
        tuple(inspect.signature(wm.factorize).parameters)[1:],
    )  # fmt: skip


def curves(folder: Path) -> Kept:
    panel = figures.Panel("karate", "Karate", 4, 1, (8,))
    changes = {"name": "cayley", "title": "Club", "k": 3, "drop": 2, "cores": (9,)}
    return Kept(
        figures.run_panel,
        "wavemmf.experiments.figures.compare",
        {"panel": panel, "folder": folder, "steps": 2, "runs": 1},
        {
            "panel": [replace(panel, **{name: new}) for name, new in changes.items()],
            "steps": [3], "runs": [2], "seed": [1],
        },
        {"progress": lambda *_: None},
    )  # fmt: skip


CACHES = [node_runs, graph_runs, many, bases_on_disk, curves]
PLACES = {"folder", "results", "cache"}


class Counted:
    """Counts the calls of what would have to be done again."""

    def __init__(self, work: Callable[..., Any]) -> None:
        self.work, self.calls = work, 0

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        self.calls += 1
        select = more.pop("select", "greedy")
        if isinstance(select, (Described, tuple)):
            more["select"] = "greedy"  # what it would choose does not matter here
        elif "select" in inspect.signature(self.work).parameters:
            more["select"] = select
        return self.work(*arguments, **more)


@pytest.mark.usefixtures("one_torch_thread")
@pytest.mark.parametrize("cache", CACHES)
def test_a_change_of_any_input_is_a_miss(
    cache: Callable[[Path], Kept], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cache in (node_runs, graph_runs):
        pytest.importorskip("torch_geometric")
    pytest.importorskip("torch")
    kept = cache(tmp_path)
    module, _, name = kept.work.rpartition(".")
    counted = Counted(getattr(import_module(module), name))
    monkeypatch.setattr(kept.work, counted)

    def work_done(**changes: Any) -> int:
        before = counted.calls
        given = {**kept.arguments, **changes}
        if "indices" in given:
            given["select"] = given.pop("indices")
        kept.function(**given)
        return counted.calls - before

    assert work_done() > 0
    assert work_done() == 0
    for argument, values in kept.changed.items():
        for value in values:
            assert work_done(**{argument: value}) > 0, (argument, value)
            assert work_done(**{argument: value}) == 0, (argument, value)
            work_done()  # stores that keep one result per name have lost it
    for argument, value in kept.same.items():
        assert work_done(**{argument: value}) == 0, argument
    monkeypatch.setattr("wavemmf._fingerprint.__version__", "99")
    assert work_done() > 0


@pytest.mark.parametrize("cache", CACHES)
def test_no_input_of_a_cache_is_forgotten(cache: Callable[[Path], Kept], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    if cache in (node_runs, graph_runs):
        pytest.importorskip("torch_geometric")
    kept = cache(tmp_path)
    covered = {*kept.changed, *kept.same, *PLACES}
    parameters = {*inspect.signature(kept.function).parameters, *kept.more} - {"settings"}
    # A callback cannot be told apart, and is refused.
    assert parameters - {"callback"} <= covered


def test_the_partitioner_is_part_of_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wm.factorize_many([KARATE], core=4, cache=tmp_path)
    assert partitioner()
    monkeypatch.setattr("wavemmf._cache.partitioner", lambda: "another")
    wm.factorize_many([KARATE], core=4, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("settings", [{"select": OwnSelector(1.0)}, {"callback": print}])
def test_settings_without_content_are_refused_before_the_work(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    from wavemmf.nn import wavelet_basis

    monkeypatch.setattr("wavemmf.nn._operators.factorize", None)
    with pytest.raises(InputTypeError, match="cannot be told apart by its content"):
        wavelet_basis(KARATE, core=8, k=4, cache=tmp_path, **settings)


def test_an_interrupted_factorization_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    from wavemmf.nn import wavelet_basis

    whole = wm.factorize(KARATE, core=8)
    cut = replace(whole, history=replace(whole.history, stopped="interrupted"))
    monkeypatch.setattr("wavemmf.nn._operators.factorize", lambda *_, **__: cut)
    wavelet_basis(KARATE, core=8, cache=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", ["0.9", None, True, float("nan"), {"x": "y"}, [0.5, "0.5"]])
def test_results_that_are_no_numbers_are_computed_again(value: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from wavemmf.experiments._results import ResultStore

    store = ResultStore(tmp_path)
    store.save(("run",), "key", {"accuracy": 0.9, "curve": [[1, 2.5]]})
    assert store.load(("run",), "key", dict) == {"accuracy": 0.9, "curve": [[1, 2.5]]}
    assert store.load(("run",), "another", dict) is None
    file = tmp_path / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "result": {"accuracy": value}}))
    assert store.load(("run",), "key", dict) is None


# -- what is kept in memory --


def test_bases_in_memory_are_found_by_all_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from wavemmf.experiments.graphs import GraphProblem
    from wavemmf.experiments.nodes import load_node_problem

    groups = [[34 - i, 33 - i] for i in range(1, 31)]
    long = np.arange(4000)
    problem = load_node_problem("karate")
    assert problem.basis(core=8, k=4) is problem.basis(k=4, core=8)
    assert problem.basis(core=8, k=4) is not problem.basis(core=8, k=3)
    monkeypatch.setattr(
        "wavemmf.experiments.nodes._problem.wavelet_basis", lambda *_, **__: object()
    )
    one, other = (problem.basis(select=(groups, array)) for array in (long, long[::-1]))
    assert one is not other
    many = GraphProblem("one", [KARATE], [0])
    monkeypatch.setattr(
        "wavemmf.experiments.graphs._problem.compute_bases", lambda *_, **__: object()
    )
    first, second = (many.bases(options={"x": array}) for array in (long, long + 1))
    assert first is not second
    assert many.bases(progress=lambda *_: None, options={"x": long}) is first


def test_problems_do_not_change_under_what_was_made_of_them() -> None:
    pytest.importorskip("torch")
    from wavemmf.experiments.nodes import NodeProblem, load_node_problem

    p = load_node_problem("karate")
    with pytest.raises(AttributeError):
        p.y = p.y.flip(0)
    own = p.y.clone()
    problem = NodeProblem("p", p.graph, p.x, own)
    own[0] = 1 - own[0]
    assert problem.y[0] == p.y[0]


# -- checkpoints --


def test_an_optimisation_goes_on_with_nothing_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wavemmf.optimize import LBFGS, Adam

    def interrupt(step: int, error: float) -> None:
        raise KeyboardInterrupt

    dense = MATRIX.toarray()
    f, g = wm.factorize(dense, core=8), wm.factorize(dense, core=8, k=3)
    path = tmp_path / "state"
    settings: dict[str, Any] = {"steps": 5, "tolerance": 1e-9, "checkpoint": path}
    wm.refine(f, dense, LBFGS(callback=interrupt, **settings))
    changed: dict[str, Any] = {
        "steps": 6, "tolerance": 1e-8, "gradient_tolerance": 1e-9, "smoothness": 0.5,
        "power": 2.0, "memory": 3,
    }  # fmt: skip
    kept = path.read_bytes()
    free = {"callback", "checkpoint", "checkpoint_seconds"}
    assert {field.name for field in fields(LBFGS)} - free == set(changed)
    others = [LBFGS(**{**settings, name: value}) for name, value in changed.items()]
    for other in [*others, Adam(**settings)]:
        with pytest.raises(InvalidInputError, match="belongs to another"):
            wm.refine(f, dense, other)
    same = LBFGS(**settings)
    moved = dense.copy()
    moved[0, 0] += 1e-9
    for start, matrix in ((f, moved), (f, 2.0 * dense), (g, dense)):
        with pytest.raises(InvalidInputError, match="belongs to another"):
            wm.refine(start, matrix, same)
    with monkeypatch.context() as patched:
        patched.setattr("wavemmf._fingerprint.__version__", "99")
        with pytest.raises(InvalidInputError, match="another version of wavemmf"):
            wm.refine(f, dense, same)
    assert path.read_bytes() == kept
    wm.refine(f, dense, LBFGS(checkpoint_seconds=7.0, **settings), progress=lambda *_: None)


def test_a_training_goes_on_with_nothing_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    from wavemmf.rl import Policy, PolicySettings, train_policy
    from wavemmf.rl._presets import PolicyTraining

    def interrupt(episodes: int, error: float) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "state"
    settings: dict[str, Any] = {
        "A": MATRIX, "k": 4, "core": 28, "episodes": 4, "batch": 2, "seed": 0, "checkpoint": path,
        "preset": "reduced-variance",
    }  # fmt: skip
    train_policy(callback=interrupt, **settings)
    training: dict[str, Any] = {
        "batch": 4, "learning_rate": 0.5, "discount": 0.5, "baseline": "moving",
        "normalize": False, "entropy": 0.5, "imitation": 2, "window": 2, "rewards": "stiefel",
        "steps": 7, "intermediate": True, "logarithmic": True, "epochs": 2, "clip": 0.3,
        "update": "plain", "halving": True,
    }  # fmt: skip
    assert {field.name for field in fields(PolicyTraining)} == set(training)
    changed = {
        **training, "A": 2.0 * MATRIX, "k": 3, "core": 27, "drop": 2, "episodes": 6, "seed": 1,
        "policy": Policy(seed=9),
    }  # fmt: skip
    for name, value in changed.items():
        with pytest.raises(InvalidInputError, match="belongs to another"):
            train_policy(**{**settings, name: value})
    with pytest.raises(InvalidInputError, match="belongs to another"):
        train_policy(**settings, policy=PolicySettings(refresh=2))
    with monkeypatch.context() as patched:
        patched.setattr("wavemmf._fingerprint.__version__", "99")
        with pytest.raises(InvalidInputError, match="another version of wavemmf"):
            train_policy(**settings)
    assert train_policy(**settings).history.episodes == 4


def test_a_kept_run_that_is_nested_without_end_is_computed_again(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from wavemmf.experiments._results import ResultStore

    store = ResultStore(tmp_path)
    store.save(("run",), "key", {"accuracy": 0.5})
    (tmp_path / "run.json").write_text("[" * 200_000)
    assert store.load(("run",), "key", dict) is None


def test_a_run_that_cannot_be_kept_is_not_lost(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from wavemmf.experiments._results import ResultStore

    store = ResultStore(tmp_path / "runs")
    (tmp_path / "runs").rmdir()
    with pytest.warns(UserWarning, match="the run cora_0 could not be kept"):
        store.save(("cora", 0), "key", {"accuracy": 0.5})


def test_a_basis_that_cannot_be_kept_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("wavemmf._cache.save_collection", full)
    with pytest.warns(UserWarning, match="could not be kept.*No space left"):
        assert wm.nn.wavelet_basis(KARATE, core=8, k=4, cache=tmp_path).n == 34
