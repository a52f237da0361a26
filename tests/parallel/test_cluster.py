"""Work on a Dask cluster: the same results, and clear words when something is wrong."""

from __future__ import annotations

import os
import signal
import sys
import time

import numpy as np
import pytest

import wavemmf as wm
from wavemmf.cli.app import app
from wavemmf.errors import ClusterError, InputTypeError, InvalidInputError, MissingDependencyError
from wavemmf.large import reduce_in_stages
from wavemmf.parallel import executor
from wavemmf.parallel.executor import current_mapper, use_executor
from wavemmf.select._part import Method

dask = pytest.importorskip("dask", reason="needs the extra 'cluster'")
distributed = pytest.importorskip("distributed", reason="needs the extra 'cluster'")
# Dask closes sockets and event loops in its own time.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

GRAPHS = [wm.graphs.path(n) for n in range(1, 120)]


@pytest.fixture(scope="module")
def cluster():
    """Return a cluster of two worker processes."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client


def assert_same(first: wm.Factorization, second: wm.Factorization) -> None:
    assert first.error() == second.error()
    for name in ("offsets", "groups", "blocks", "drop_offsets", "wavelets"):
        np.testing.assert_array_equal(
            getattr(first.rotations, name), getattr(second.rotations, name)
        )
    np.testing.assert_array_equal(first.frequencies, second.frequencies)


def test_many_graphs_give_the_same_as_alone(client) -> None:
    settings = {"core": 3, "k": 4, "optimize": "lbfgs", "steps": 10}
    here = wm.factorize_many(GRAPHS, **settings)
    there = wm.factorize_many(GRAPHS, **settings, executor=client)
    assert len(here) == len(there) == len(GRAPHS)
    for first, second in zip(here, there, strict=True):
        assert_same(first, second)
    assert client.status == "running"  # a client of the caller stays open


def test_a_killed_worker_does_not_matter(client, cluster) -> None:
    settings = {"core": 2, "k": 4, "optimize": "lbfgs", "steps": 60}
    victims = list(client.run(os.getpid).values())[:1]

    def kill(done: int, total: int, note: str) -> None:
        if victims and done < total:
            os.kill(victims.pop(), signal.SIGKILL)

    there = wm.factorize_many(GRAPHS, **settings, executor=client, progress=kill)
    assert not victims
    for first, second in zip(wm.factorize_many(GRAPHS, **settings), there, strict=True):
        assert_same(first, second)
    client.wait_for_workers(2, timeout=30)  # the nanny starts another one


def test_parts_of_a_large_matrix_give_the_same(client) -> None:
    matrix = wm.graphs.normalized_laplacian(wm.graphs.grid(40, 40))
    method = Method(4, 1, False, True, 1e-5)
    here = reduce_in_stages(matrix, 160, method, part_size=200)
    with use_executor(client):
        there = reduce_in_stages(matrix, 160, method, part_size=200)
    assert here.residual == there.residual
    np.testing.assert_array_equal(here.rotations.blocks, there.rotations.blocks)
    np.testing.assert_array_equal(here.rotations.groups, there.rotations.groups)


def test_factorize_takes_a_client_or_an_address(cluster, client, monkeypatch) -> None:
    monkeypatch.setattr(sys.modules["wavemmf._factorize"], "_STAGES_FROM", 100)
    matrix = wm.graphs.normalized_laplacian(wm.graphs.grid(40, 40))
    settings = {"core": 160, "k": 4, "engine": "sparse"}
    here = wm.factorize(matrix, **settings)
    for where in (client, cluster.scheduler_address):
        assert_same(here, wm.factorize(matrix, **settings, executor=where))


@pytest.mark.parametrize("select", ["greedy", "random"])
def test_restarts_run_there(client, select) -> None:
    settings = {"core": 8, "k": 4, "select": select, "restarts": 12}
    here = wm.factorize(wm.graphs.karate(), **settings)
    assert_same(here, wm.factorize(wm.graphs.karate(), **settings, executor=client))


def test_results_come_in_order_and_are_told_as_they_come(client) -> None:
    told = []
    with use_executor(client) as run:
        assert current_mapper() is run
        results = run(pow, [(n, 2) for n in range(20)], lambda at, value: told.append((at, value)))
    assert results == [n * n for n in range(20)]
    assert sorted(told) == list(enumerate(results))
    with use_executor(None) as run:
        assert current_mapper() is run


def test_an_error_of_the_work_is_passed_on(client) -> None:
    with use_executor(client) as run, pytest.raises(ZeroDivisionError):
        run(divmod, [(1, 1), (1, 0), *[(1, 1)] * 20])


def test_command_line(cluster, tmp_path) -> None:
    from typer.testing import CliRunner

    out = tmp_path / "karate.mmf"
    address = cluster.scheduler_address
    arguments = ["factorize", "karate", "--core", "8", "--executor", address, "-o", str(out)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert_same(wm.load(out), wm.factorize(wm.graphs.karate(), core=8))


def test_command_line_with_a_bad_address() -> None:
    from typer.testing import CliRunner

    arguments = ["factorize", "karate", "--core", "8", "--executor", "tcp://127.0.0.1:9"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "no Dask scheduler answers" in result.output


# -- what can be wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "foo://here:1"])
def test_bad_address(address) -> None:
    start = time.monotonic()
    with pytest.raises(ClusterError, match="no Dask scheduler answers at"):
        wm.factorize_many(GRAPHS[:2], core=1, executor=address)
    assert time.monotonic() - start < 10


def test_bad_executor() -> None:
    with pytest.raises(InputTypeError, match=r"executor must be .* got int"):
        wm.factorize(wm.graphs.karate(), core=8, executor=3)


def test_lost_scheduler() -> None:
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),  # or closing takes long
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as small,
        distributed.Client(small, set_as_default=False) as client,
    ):
        lose = [small.scheduler.close]

        def report(position: int, result: object) -> None:
            if lose:
                client.sync(lose.pop())

        with use_executor(client) as run, pytest.raises(ClusterError, match="was lost"):
            run(time.sleep, [(0.05,)] * 60, report)
        with pytest.raises(ClusterError, match=r"is connecting|is closed"):
            wm.factorize_many(GRAPHS[:2], core=1, executor=client)


def test_no_workers() -> None:
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        distributed.Client(empty, set_as_default=False) as client,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(executor, "_CONNECT_SECONDS", 0.2)
        with pytest.raises(ClusterError, match="has no workers"):
            wm.factorize_many(GRAPHS[:2], core=1, executor=client)


def test_workers_with_another_version(client, monkeypatch) -> None:
    monkeypatch.setattr(wm, "__version__", "99.0")
    with pytest.raises(ClusterError, match=r"has wavemmf .*, this process has 99\.0"):
        wm.factorize_many(GRAPHS[:2], core=1, executor=client)


def test_workers_without_wavemmf(client, monkeypatch) -> None:
    monkeypatch.setattr(executor, "_VERSIONS", "__import__('wavemmf_is_not_here')")
    with pytest.raises(ClusterError, match="cannot import wavemmf_is_not_here"):
        wm.factorize_many(GRAPHS[:2], core=1, executor=client)


def test_without_dask(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r"wavemmf\[cluster\]"):
        wm.factorize_many(GRAPHS[:2], core=1, executor="tcp://127.0.0.1:9")


def test_errors_of_the_input_name_the_graph() -> None:
    with pytest.raises(InvalidInputError, match="graph 1: the matrix is not symmetric"):
        wm.factorize_many([np.eye(3), np.triu(np.ones((3, 3)))], core=1)
