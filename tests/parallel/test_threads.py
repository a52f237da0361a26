"""Threads of the user: they leave the process as it was, and it can be forked meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

import wavemmf as wm
from wavemmf.parallel import threads


def blas_threads():
    infos = ThreadpoolController().info()
    return [info["num_threads"] for info in infos if info["user_api"] == "blas"]


@pytest.fixture
def many_blas_threads():
    """Give BLAS more than one thread, whatever the machine has."""
    with ThreadpoolController().limit(limits=3, user_api="blas"):
        if set(blas_threads()) != {3}:
            pytest.skip("the threads of this BLAS cannot be set")
        yield


def all_threads(function, count=16):
    with ThreadPoolExecutor(count) as pool:
        return [future.result() for future in [pool.submit(function, i) for i in range(count)]]


def test_sixteen_threads_leave_blas_as_it_was(many_blas_threads):
    a = wm.graphs.grid(20, 20)
    expected = wm.factorize(a, core=40, k=8, optimize="lbfgs", steps=2).error()
    started = threading.Barrier(16)

    def work(_):
        started.wait()
        return [wm.factorize(a, core=40, k=8, optimize="lbfgs", steps=2).error() for _ in range(2)]

    assert all_threads(work) == [[expected] * 2] * 16
    assert set(blas_threads()) == {3}


class Overlap:
    """Two threads: the second begins during the first and ends after it."""

    def __init__(self, around):
        self.begun, self.ended = threading.Event(), threading.Event()
        other = threading.Thread(target=around, args=(self.second,))
        around(lambda: self.first(other))
        self.ended.set()
        other.join()

    def first(self, other):
        other.start()
        assert self.begun.wait(60)

    def second(self):
        self.begun.set()
        assert self.ended.wait(60)


def test_overlapping_calls_share_one_limit(many_blas_threads, monkeypatch):
    monkeypatch.setenv("WAVEMMF_NUM_THREADS", "1")
    seen = []

    def around(wait):
        def work():
            wait()
            seen.append(set(blas_threads()))

        threads.run_all(work, [()])

    Overlap(around)
    assert seen == [{1}, {1}]
    assert set(blas_threads()) == {3}


@pytest.fixture
def three_torch_threads():
    """Give torch three threads, whatever the machine has."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield torch.get_num_threads
    torch.set_num_threads(before)


def test_overlapping_calls_leave_torch_as_it_was(three_torch_threads):
    from wavemmf.parallel.torch_threads import one_thread

    seen = []

    def around(wait):
        with one_thread():
            wait()
            with one_thread():
                pass
            seen.append(three_torch_threads())

    Overlap(around)
    assert seen == [1, 1]
    assert three_torch_threads() == 3
    assert all_threads(lambda _: three_torch_threads(), 1) == [3]


def test_sixteen_threads_leave_the_filters_of_warnings_as_they_were(tmp_path):
    path = tmp_path / "path.edges"
    path.write_text("".join(f"{i} {i + 1}\n" for i in range(2000)))
    interval = sys.getswitchinterval()
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        before = list(warnings.filters)
        sys.setswitchinterval(1e-6)
        try:
            all_threads(lambda _: [wm.io.read(path) for _ in range(40)])
        finally:
            sys.setswitchinterval(interval)
        assert warnings.filters == before


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def in_a_child(call, seconds=120):
    """Run a call in a forked child and return its exit code; None if it hung."""
    child = os.fork()
    if child == 0:
        try:
            call()
            os._exit(0)
        finally:
            os._exit(1)
    codes = []
    waiter = threading.Thread(target=lambda: codes.append(os.waitpid(child, 0)[1]), daemon=True)
    waiter.start()
    waiter.join(seconds)
    if not codes:
        os.kill(child, 9)
        waiter.join()
        return None
    return os.waitstatus_to_exitcode(codes[0])


@pytest.fixture
def held():
    """Return a function that lets another thread hold something until the test ends."""
    release, running = threading.Event(), []

    def hold(context):
        entered = threading.Event()

        def keep():
            with context:
                entered.set()
                release.wait(60)

        running.append(threading.Thread(target=keep))
        running[-1].start()
        assert entered.wait(60)

    yield hold
    release.set()
    for thread in running:
        thread.join()


# Python 3.12 warns of every fork in a process with threads.
@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="cached properties have no locks any more")
def test_a_child_does_not_wait_for_properties_of_the_parent(held):
    """A thread computes the spans of some rotations while the process is forked."""
    f = wm.factorize(wm.graphs.karate(), core=8, k=4)
    rotations = type(f.rotations)
    cached = {n: p for n, p in vars(rotations).items() if hasattr(p, "attrname")}
    assert cached
    fresh = wm.Rotations(
        **{name: getattr(f.rotations, name) for name in f.rotations.__dataclass_fields__}
    )
    for member in cached.values():
        held(member.lock)
    assert in_a_child(lambda: [getattr(fresh, name) for name in cached]) == 0


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_does_not_inherit_the_limit_of_a_running_call(many_blas_threads, held):
    held(threads._one_blas_thread)

    def check():
        assert set(blas_threads()) == {3}
        with threads._one_blas_thread:
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {3}

    assert in_a_child(check) == 0


COMPILING = """
import os, sys, threading, time
import numba
from numba.core import event
import wavemmf as wm

begun = threading.Event()

class Listener(event.Listener):
    def on_start(self, event):
        begun.set()
    def on_end(self, event):
        pass

event.register("numba:compile", Listener())

@numba.njit
def slow(x):
    for i in range(3):
        x = x * x + i
    return x

thread = threading.Thread(target=slow, args=(1.5,))
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    @numba.njit
    def other(x):
        return x + 1
    os._exit(0 if other(1) == 2 else 1)
deadline = time.monotonic() + 120
while time.monotonic() < deadline:
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
        break
    time.sleep(0.05)
else:
    os.kill(child, 9)
    sys.exit("the child hung")
thread.join()
sys.exit(os.waitstatus_to_exitcode(status))
"""


@needs_fork
def test_a_fork_waits_for_a_compilation(tmp_path):
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", COMPILING], env=environment, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forks_while_threads_compute():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((120, 120))
    a += a.T
    expected = wm.factorize(a, core=20, k=4, optimize="lbfgs", steps=2).error()
    end = threading.Event()

    def work():
        while not end.is_set():
            wm.factorize(a, core=20, k=4, optimize="lbfgs", steps=2)

    running = [threading.Thread(target=work) for _ in range(3)]
    for thread in running:
        thread.start()

    def same():
        assert wm.factorize(a, core=20, k=4, optimize="lbfgs", steps=2).error() == expected

    try:
        assert [in_a_child(same) for _ in range(5)] == [0] * 5
    finally:
        end.set()
        for thread in running:
            thread.join()
