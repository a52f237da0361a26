"""What a new user does in the first hour, with data of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings

import networkx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator, cg, eigsh, svds

import wavemmf as wm
from wavemmf._engine import choose_engine
from wavemmf._progress import progress_shown, silent
from wavemmf.errors import (
    AccuracyWarning,
    InvalidInputError,
    LargeResultWarning,
    TooLargeError,
    UnusedAttributeWarning,
)


@pytest.fixture(scope="module")
def f():
    return wm.factorize(wm.graphs.karate(), core=8, k=4).shifted(0.5)


# -- own edge lists and tables --


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("cities.csv", "city_a,city_b\nParis,Lyon\nLyon,Nice\n", ("Paris", "Lyon", "Nice")),
        ("weighted.csv", "here,there,w\nParis,Lyon,2\nLyon,Nice,3\n", ("Paris", "Lyon", "Nice")),
        (
            "quoted.csv",
            'from,to\n"York, PA","Say ""hi"""\n"York, PA",Leeds\n',
            ("York, PA", 'Say "hi"', "Leeds"),
        ),
        ("semicolons.csv", "Paris;Lyon;0.5\nLyon;Nice;1.5\n", ("Paris", "Lyon", "Nice")),
        ("words.txt", '"New York" Boston\nBoston Albany\n', ("New York", "Boston", "Albany")),
    ],
)
def test_edge_lists_with_titles_quotes_and_other_delimiters(tmp_path, name, text, names):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    graph = wm.io.read(path)
    assert graph.node_names == names
    assert graph.num_edges == 2


def test_titles_that_cannot_be_told_from_an_edge_are_asked_about(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("who,whom\nAda,Bob\nBob,Cid\n", encoding="utf-8")
    with pytest.warns(UserWarning, match="header=True"):
        assert wm.io.read(path).n == 5
    assert wm.io.read(path, header=True).node_names == ("Ada", "Bob", "Cid")
    assert wm.io.read(path, header=False).n == 5
    path.write_text('a,"b\n', encoding="utf-8")
    with pytest.raises(InvalidInputError, match="quote"):
        wm.io.read(path)


def test_a_matrix_has_no_titles(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(2))
    with pytest.raises(InvalidInputError, match="header=True is for edge lists"):
        wm.io.read(tmp_path / "a.npy", header=True)


def test_data_frames_are_graphs():
    frame = pd.DataFrame({"a": ["x", "y", "y"], "b": ["y", "z", "x"], "km": [2.0, 3.0, 2.0]})
    graph = wm.graphs.from_pandas(frame, "a", "b", weight="km")
    assert graph.node_names == ("x", "y", "z")
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 2, 0], [2, 0, 3], [0, 3, 0]])
    numbered = pd.DataFrame({"source": [0, 3], "target": [1, 1]})
    assert wm.graphs.from_pandas(numbered).n == 4
    with pytest.raises(InvalidInputError, match=r"no column 'kms'.*did you mean 'km'"):
        wm.graphs.from_pandas(frame, "a", "b", weight="kms")
    with pytest.raises(InvalidInputError, match=r"row 2.*weight 9.*2 in row 0"):
        wm.graphs.from_pandas(frame.assign(km=[2.0, 3.0, 9.0]), "a", "b", weight="km")
    with pytest.raises(InvalidInputError, match="'b' has no value in row 1"):
        wm.graphs.from_pandas(frame.assign(b=["y", None, "x"]), "a", "b")


def test_edge_attributes_of_networkx_are_used_by_name_or_said():
    graph = networkx.Graph()
    graph.add_edge("a", "b", w=2.0)
    graph.add_edge("b", "c", w=3.0)
    with pytest.warns(UnusedAttributeWarning, match="weight='w'"):
        counted = wm.graphs.adjacency(graph)
    assert counted.max() == 1.0
    weighted = wm.graphs.from_networkx(graph, weight="w")
    assert weighted.node_names == ("a", "b", "c")
    assert weighted.adjacency.max() == 3.0
    assert wm.graphs.from_networkx(graph, weight=None).adjacency.max() == 1.0
    with pytest.raises(InvalidInputError, match="no attribute of the edge 'a', 'b' 'v'"):
        wm.graphs.from_networkx(graph, weight="v")


# -- names --


def test_what_is_imported_late_is_shown():
    assert {"MMF", "estimator", "nn", "rl", "torch"} <= set(dir(wm))
    assert "MMF" in wm.__all__


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: wm.graphs.named("karat"), "karate"),
        (lambda: wm.graphs.named("ego-facebok"), "snap:ego-Facebook"),
        (lambda: wm.factorize(np.eye(3), select="gredy"), "greedy"),
        (lambda: wm.factorize(np.eye(3), optimize="lbgfs"), "lbfgs"),
        (lambda: wm.factorize(np.eye(3), engine="spars"), "sparse"),
    ],
)
def test_typing_errors_are_understood(call, meant):
    with pytest.raises(InvalidInputError, match=f"did you mean '{meant}'"):
        call()


# -- other libraries --


def test_scipy_takes_a_factorization_as_a_matrix(f):
    dense, b = f.to_dense(), np.arange(34.0)
    assert f.T is f
    assert f.dtype == np.float64
    largest = eigsh(f, k=3, return_eigenvectors=False)
    np.testing.assert_allclose(np.sort(largest), np.linalg.eigvalsh(dense)[-3:])
    x, code = cg(f, b, rtol=1e-12)
    assert code == 0
    np.testing.assert_allclose(x, np.linalg.solve(dense, b))
    assert isinstance(aslinearoperator(f), LinearOperator)
    np.testing.assert_allclose(aslinearoperator(f).H @ b, dense @ b)
    np.testing.assert_allclose(np.sort(svds(f, k=2)[1]), np.linalg.eigvalsh(dense)[-2:])


def test_numpy_makes_an_array_of_a_small_factorization_only(f):
    np.testing.assert_array_equal(np.asarray(f), f.to_dense())
    assert np.array(f, dtype=np.float32).dtype == np.float32
    large = wm.factorize(sp.eye_array(2500, format="csr"), core=10, k=2)
    with pytest.raises(TooLargeError, match=r"to_dense\(\)"):
        np.asarray(large)
    with pytest.raises(TooLargeError, match=r"to_dense\(\)"):
        wm.factorize(large)


def test_levels_count_from_one(f):
    for ask in (f.rotations.block, f.rotations.group, f.rotations.dropped):
        with pytest.raises(InvalidInputError, match=r"count from 1.*at most 26, got 0"):
            ask(0)
        ask(26)


def test_a_large_basis_is_announced(f, monkeypatch):
    monkeypatch.setattr("wavemmf.factorization._fill._MANY", 100)
    with pytest.warns(LargeResultWarning, match="million entries"):
        basis = f.basis()
    assert basis.nnz > 100


def test_dask_takes_one_argument():
    distributed = pytest.importorskip("distributed")
    graphs = [wm.graphs.cycle(n) for n in (12, 20)]
    here = wm.factorize_many(graphs, core=4, k=3)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        there = wm.factorize_many(graphs, core=4, k=3, executor=client)
    assert [g.error() for g in there] == [g.error() for g in here]


def test_selectors_may_return_index_sets():
    class LastRows:
        name = "last rows"

        def select(self, matrix, task):
            dropped = range(matrix.shape[0] - 1, task.core - 1, -1)
            return [[i, i - 1] for i in dropped], [[i] for i in dropped]

        def sample(self, matrix, task, count):
            return [self.select(matrix, task)] * count

    graph = wm.graphs.cycle(8)
    chosen = wm.factorize(graph, core=2, k=2, select=LastRows())
    indices = LastRows().select(np.eye(8), wm.select.Task(2, 2, 1))
    assert chosen.error() == wm.factorize(graph, k=2, select=indices).error()
    assert wm.factorize(graph, core=2, k=2, select=LastRows(), restarts=2).core_size == 2


# -- what is chosen, and what is too rough --


def _with_long_rows(n, length):
    rng = np.random.default_rng(0)
    columns = np.minimum(np.arange(n)[:, None] + rng.integers(1, 200, (n, length)), n - 1)
    rows = np.repeat(np.arange(n), length)
    one_way = sp.csr_array((np.ones(rows.size), (rows, columns.ravel())), shape=(n, n))
    return wm.graphs.symmetric_part(one_way, as_graph=True).adjacency


def test_the_engine_is_chosen_by_cost_and_the_history_says_why():
    greedy = wm.select.Greedy()
    long_rows = _with_long_rows(11_758, 50)
    assert long_rows.nnz > 64 * 11_758
    assert choose_engine(long_rows, "auto", greedy).name == "sparse"
    full = sp.csr_array(np.ones((1500, 1500)))
    assert choose_engine(full, "auto", greedy).name == "dense"
    told = wm.factorize(wm.graphs.grid(40, 40), core=100, k=3).history.details["engine"]
    assert told.startswith("sparse, estimated cheaper")
    assert (
        "as asked for" in wm.factorize(wm.graphs.karate(), engine="dense").history.details["engine"]
    )


def test_a_rough_approximation_is_not_inverted_without_a_word():
    x = np.random.default_rng(0).random((200, 2))
    squares = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    kernel = np.exp(-squares / (2 * 0.1**2))
    rough = wm.factorize(kernel, core=20, k=4)
    with pytest.warns(AccuracyWarning, match=r"solve: a relative error of about \d+%"):
        rough.solve(np.ones(200), shift=0.01)
    with pytest.warns(AccuracyWarning, match=r"logdet: a relative error of about \d+%"):
        rough.shifted(0.01).logdet()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rough.solve(np.ones(200), shift=100.0)
        rough.shifted(100.0).logdet()
        rough.shifted(0.01).inv()


# -- progress --


def test_bars_are_drawn_when_asked_for(capsys):
    wm.factorize(wm.graphs.karate(), core=8, k=4, progress=False)
    wm.factorize(wm.graphs.karate(), core=8, k=4)
    assert capsys.readouterr().err == ""
    wm.factorize(wm.graphs.karate(), core=8, k=4, progress=True)
    assert "factorizing" in capsys.readouterr().err
    with progress_shown("work", True) as outer, progress_shown("work inside", True) as inner:
        outer(1, 2, "")
        inner(1, 2, "")
    shown = capsys.readouterr().err
    assert "work" in shown
    assert "inside" not in shown


def test_a_bar_waits_for_two_seconds(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr("wavemmf._progress.is_notebook", lambda: True)
    monkeypatch.setattr("wavemmf._progress.time.monotonic", lambda: now[0])
    with progress_shown("work", None) as progress:
        assert progress is not silent
        progress(1, 4, "")
        assert capsys.readouterr().err == ""
        now[0] = 2.5
        progress(2, 4, "")
    assert "work" in capsys.readouterr().err


NOTEBOOK = """
import wavemmf as wm
f = wm.factorize(wm.graphs.karate(), core=8, k=4, progress=True)
print(f.core_size)
"""


def test_notebooks_show_a_bar():
    pytest.importorskip("ipykernel")
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of event loops, which are not ours
        nbclient.NotebookClient(notebook, timeout=100, kernel_name="python3").execute()
    streams = {"stdout": "", "stderr": ""}
    for output in notebook.cells[0].outputs:
        streams[output.name] += output.text
    assert streams["stdout"] == "8\n"
    assert "factorizing ██" in streams["stderr"]


@pytest.mark.skipif(os.name == "nt", reason="SIGTERM cannot be caught on Windows")
def test_sigterm_leaves_a_checkpoint(tmp_path):
    pytest.importorskip("torch")
    policy, checkpoint = tmp_path / "p.safetensors", tmp_path / "p.ckpt"
    command = [
        sys.executable, "-m", "wavemmf", "policy", "train", "karate", "--core", "8", "--k", "4",
        "--episodes", "1000000", "--checkpoint", str(checkpoint), "--checkpoint-seconds", "0.01",
        "-o", str(policy),
    ]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        deadline = time.monotonic() + 100.0
        while not checkpoint.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert b"policy so far was written" in told
    assert policy.is_file()
    assert checkpoint.is_file()


def test_time_left_is_told_inside_the_first_batch(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr("wavemmf.rl._learn._TELL_EVERY", 0.0)
    notes = []
    wm.rl.train_policy(
        wm.graphs.karate(), core=8, k=4, episodes=16,
        progress=lambda done, total, note: notes.append((done, note)),
    )  # fmt: skip
    assert notes[0][0] == 0
    assert "left" in notes[0][1]


# -- PyTorch Geometric and Gymnasium --


def _rings():
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data")
    for n in (8, 11):
        there = torch.arange(n)
        edges = torch.stack([there, (there + 1) % n])
        edges = torch.cat([edges, edges.flip(0)], dim=1)
        yield data.Data(x=torch.ones(n, 3), edge_index=edges, y=torch.tensor([n % 2]))


def test_batches_of_a_loader_carry_their_bases():
    torch = pytest.importorskip("torch")
    loader = pytest.importorskip("torch_geometric.loader")
    graphs = [wm.nn.AddWaveletBasis(k=3)(data) for data in _rings()]
    conv = wm.nn.WaveletConv(3, 5)
    (batch,) = loader.DataLoader(graphs, batch_size=2)
    together = conv(batch.x, wm.nn.BatchBasis(batch))
    alone = [conv(data.x, wm.nn.BatchBasis(data)) for data in graphs]
    torch.testing.assert_close(together, torch.cat(alone))
    assert wm.nn.GraphWaveletNet(3, 2)(batch).shape == (2, 2)


def test_directed_graphs_are_said_and_operators_are_named():
    torch = pytest.importorskip("torch")
    data = next(_rings())
    net = wm.nn.WaveletNet(3, 2, similar_hops=0)
    with pytest.raises(InvalidInputError, match=r"call net\(data.x, wm.nn.wavelet_basis\(data\)"):
        net(data)
    assert net(data.x, wm.nn.wavelet_basis(data, k=3), wm.nn.hop_operator(data)).shape == (8, 2)
    data.edge_index = torch.tensor([[0, 1], [1, 2]])
    with pytest.raises(InvalidInputError, match="symmetric_part"):
        wm.nn.AddWaveletBasis(k=3)(data)
    assert "wavelet_value" in wm.nn.AddWaveletBasis(k=3, symmetrize=True)(data)
    with pytest.raises(InvalidInputError, match="did you mean 'steps'"):
        wm.nn.AddWaveletBasis(step=3)


def test_a_basis_from_the_cache_is_loaded_and_not_made(tmp_path, monkeypatch):
    pytest.importorskip("torch_geometric")
    data = next(_rings())
    made = wm.nn.AddWaveletBasis(k=3, cache=tmp_path)(data.clone())

    def refuse(*_, **__):
        raise AssertionError("this was kept")

    for name in ("factorize_many", "basis_arrays"):
        monkeypatch.setattr(f"wavemmf.nn._transform.{name}", refuse)
    monkeypatch.setattr("wavemmf.nn._transform.signature", lambda _: None)
    found = wm.nn.AddWaveletBasis(k=3, cache=tmp_path)(data.clone())
    assert (found.wavelet_value == made.wavelet_value).all()


def test_a_damaged_basis_is_made_again(tmp_path):
    pytest.importorskip("torch_geometric")
    data = next(_rings())
    made = wm.nn.AddWaveletBasis(k=3, cache=tmp_path)(data.clone())
    (kept,) = tmp_path.glob("*.npz")
    kept.write_bytes(kept.read_bytes()[:100])
    with pytest.warns(UserWarning, match="computing again"):
        found = wm.nn.AddWaveletBasis(k=3, cache=tmp_path)(data.clone())
    assert (found.wavelet_value == made.wavelet_value).all()


def test_auto_does_not_make_a_basis_that_it_discards(monkeypatch):
    pytest.importorskip("torch")
    f = wm.factorize(wm.graphs.barabasi_albert(1500, 8, seed=0), core=20, k=8, engine="sparse")

    def refuse(*_):
        raise AssertionError("rows of a sample have said that it is not worth it")

    monkeypatch.setattr("wavemmf.nn._basis.basis_matrix", refuse)
    assert wm.nn.WaveletBasis(f, threshold=0.0).method == "rotations"


def test_the_environment_is_one_of_gymnasium():
    pytest.importorskip("torch")
    checker = pytest.importorskip("gymnasium.utils.env_checker")
    environment = wm.rl.MMFEnvironment(wm.graphs.karate(), core=8, k=4, render_mode="ansi")
    checker.check_env(environment, skip_render_check=True)  # other modes are made by gymnasium.make
    environment.reset(seed=1)
    assert environment.render() == "level 0 of 26: 34 rows are active"
    environment.close()


# -- one name for one thing --


def test_a_policy_is_recognised_by_load(tmp_path):
    pytest.importorskip("torch")
    path = tmp_path / "policy.safetensors"
    wm.rl.Policy(seed=0).save(path)
    with pytest.raises(InvalidInputError, match=r"is a policy.*wavemmf.rl.load_policy loads it"):
        wm.load(path)


def test_pictures_take_coordinates(f):
    pytest.importorskip("matplotlib")
    points = np.random.default_rng(0).random((34, 2))
    ax = wm.plot.wavelet(f, 1, wm.graphs.karate(), coordinates=points, bar=False)
    drawn = np.asarray(ax.collections[-1].get_offsets())
    np.testing.assert_allclose(np.sort(drawn, axis=0), np.sort(points, axis=0))
    with pytest.raises(InvalidInputError, match=r"shape \(34, 2\)"):
        wm.plot.wavelet(f, 1, wm.graphs.karate(), coordinates=points[:3])


def test_arguments_have_the_same_names_and_order_everywhere():
    pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    from inspect import signature

    from wavemmf.cli.classify import nodes
    from wavemmf.cli.classify_graphs import graphs
    from wavemmf.cli.factorize import factorize
    from wavemmf.experiments.graphs import classify_graphs
    from wavemmf.experiments.nodes import classify_nodes

    assert list(signature(wm.rl.train_policy).parameters)[:4] == ["A", "core", "k", "drop"]
    assert "executor" in signature(factorize).parameters
    for here, there in ((classify_nodes, nodes), (classify_graphs, graphs)):
        assert list(signature(here).parameters)[:2] == ["dataset", "model"]
        shared = {"model", "split", "runs", "epochs", "results", "seed"}
        assert shared <= set(signature(here).parameters) & set(signature(there).parameters)
