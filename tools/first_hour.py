"""Do eleven jobs of a new user with data of their own, one after the other: each must work.

    python tools/first_hour.py

Prints the processor time of each. Not a substitute for the tests: it checks that what the guide
says can be done in one go, with the packages that users have beside this one.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import wavemmf as wm

EDGES = """from,to,minutes
"Aarau, old town",Bern,43.0
Bern,Chur,131.0
Chur,"Aarau, old town",107.5
Chur,Davos,57.0
Davos,Bern,190.5
"""


def edge_list() -> None:
    """Read a file of edges with titles and quoted names."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trains.csv")
        path.write_text(EDGES)
        f = wm.factorize(path, core=2, k=2)
        f.save(Path(folder, "trains.mmf"))
        assert wm.load(Path(folder, "trains.mmf")).node_names[0] == "Aarau, old town"


def data_frame() -> None:
    """Take a table of edges, and a signal that is aligned by name."""
    import pandas as pd

    frame = pd.DataFrame({"a": ["x", "y", "z"], "b": ["y", "z", "x"], "km": [1.0, 2.0, 3.0]})
    f = wm.factorize(wm.graphs.from_pandas(frame, source="a", target="b", weight="km"), core=1, k=2)
    signal = pd.Series([3.0, 1.0, 2.0], index=["z", "x", "y"])
    back = f.synthesize(f.analyze(signal))
    assert list(back.index) == ["z", "x", "y"]
    assert np.allclose(back, signal)


def networkx_weights() -> None:
    """Use an edge attribute of networkx by name, of a directed graph."""
    import networkx as nx

    graph = nx.gnp_random_graph(30, 0.2, seed=0, directed=True)
    nx.set_edge_attributes(graph, 2.0, "w")
    undirected = wm.graphs.symmetric_part(wm.graphs.from_networkx(graph.to_undirected(), "w"))
    assert wm.factorize(undirected, core=4, k=3).n == 30


def scipy_solvers() -> None:
    """Use a factorization in place of a matrix."""
    from scipy.sparse.linalg import aslinearoperator, cg, eigsh

    f = wm.factorize(wm.graphs.karate(), core=8, k=4).shifted(0.5)
    assert np.allclose(np.sort(eigsh(f, k=3)[0]), f.eigvalsh()[-3:])
    x, failed = cg(f, np.ones(34), rtol=1e-10)
    assert not failed
    assert np.allclose(aslinearoperator(f) @ x, np.ones(34))


def scikit_learn() -> None:
    """Be a step of a pipeline."""
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    samples = np.random.default_rng(0).normal(size=(40, 20)).cumsum(axis=1)
    pipeline = make_pipeline(wm.MMF(core=4, k=3, affinity="covariance"), Ridge())
    assert pipeline.fit(samples, samples[:, 0]).score(samples, samples[:, 0]) > 0.9


def _rings() -> list[Any]:
    import torch
    from torch_geometric.data import Data

    rings = []
    for n in (8, 11, 14):
        there = torch.arange(n)
        edges = torch.stack([there, (there + 1) % n])
        edges = torch.cat([edges, edges.flip(0)], dim=1)
        rings.append(Data(torch.ones(n, 3), edges, y=torch.tensor([n % 2])))
    return rings


def pyg_data() -> None:
    """Apply a network to a graph of PyTorch Geometric."""
    data = _rings()[0]
    net = wm.nn.WaveletNet(3, 2, similar_hops=0)
    operators = wm.nn.wavelet_basis(data, k=3), wm.nn.hop_operator(data)
    assert net(data.x, *operators).shape == (8, 2)


def batches() -> None:
    """Load batches of small graphs, and take one step of training."""
    import torch
    from torch_geometric.loader import DataLoader

    add_basis = wm.nn.AddWaveletBasis(k=3)
    (batch,) = DataLoader([add_basis(data) for data in _rings()], batch_size=3)
    net = wm.nn.GraphWaveletNet(3, 2)
    optimizer = torch.optim.Adam(net.parameters())
    torch.nn.functional.cross_entropy(net(batch), batch.y).backward()
    optimizer.step()


def notebook() -> None:
    """Run a notebook with a bar."""
    import nbclient
    import nbformat

    code = (
        "import wavemmf as wm\n"
        "wm.factorize(wm.graphs.karate(), core=8, k=4, progress=True).core_size"
    )
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(page, timeout=100, kernel_name="python3").execute()
    shown = "".join(output.get("text", "") for output in page.cells[0].outputs)
    assert "factorizing" in shown


def gymnasium() -> None:
    """Take the decision process for an environment."""
    from gymnasium.utils.env_checker import check_env

    check_env(wm.rl.MMFEnvironment(wm.graphs.karate(), core=8, k=4), skip_render_check=True)


def dask() -> None:
    """Factorize many graphs on a cluster."""
    from distributed import Client, LocalCluster

    graphs = [wm.graphs.cycle(n) for n in (12, 20)]
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        assert len(wm.factorize_many(graphs, core=4, k=3, executor=client)) == 2


def signals() -> None:
    """Make wavelets of a graph, and a page that shows them."""
    graph = wm.graphs.grid(6, 6)
    f = wm.wavelets(graph)
    assert wm.signals.best_terms(f, graph.coordinates.sum(axis=1), share=0.3).error < 0.2
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        wm.report.write_report(f, page, graph)
        assert page.stat().st_size > 10_000


JOBS: tuple[Callable[[], None], ...] = (
    edge_list, data_frame, networkx_weights, scipy_solvers, scikit_learn, pyg_data, batches,
    notebook, gymnasium, dask, signals,
)  # fmt: skip


def main() -> int:
    """Do all of them, and say which did not work."""
    warnings.filterwarnings("ignore", module=r"(?!wavemmf)")  # of other packages, to their users
    failed = 0
    for job in JOBS:
        started = time.process_time()
        try:
            job()
            outcome = f"{time.process_time() - started:6.1f} s"
        except Exception as error:  # the others are still to be tried
            failed += 1
            outcome = f"FAILED: {error!r}"
        print(f"{job.__name__:20}{outcome}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
