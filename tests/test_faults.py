"""What is left behind when a disk is full or read-only, processes collide, or memory is short."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import wavemmf as wm
from command_line import failed, run
from wavemmf.errors import InvalidInputError, TooLargeError


@pytest.fixture
def small_disk(tmp_path):
    """Yield a disk of 64 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        made = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no command mount")
    if made.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_full_disk_leaves_the_old_file(small_disk):
    path = small_disk / "f.mmf"
    old = wm.factorize(wm.graphs.karate(), core=8, k=4)
    old.save(path)
    before = path.read_bytes()
    with pytest.raises(OSError, match="No space left"):
        wm.factorize(wm.graphs.grid(40, 40), core=10, k=8).save(path)
    assert path.read_bytes() == before
    assert files(small_disk) == ["f.mmf"]


def test_the_command_says_that_the_disk_is_full(small_disk):
    path = small_disk / "f.mmf"
    failed(
        run("factorize", "cayley", "--core", 8, "--k", 8, "--survivors", "nearest", "-o", path),
        "No space left",
        "f.mmf",
    )
    assert files(small_disk) == []


def test_a_full_disk_in_the_middle_of_an_optimisation(small_disk):
    """The checkpoint does not fit: the run ends with an error, and nothing is half-written."""
    path, state = small_disk / "f.mmf", small_disk / "state"
    result = run(
        "factorize", "cayley", "--core", 8, "--k", 8, "--optimize", "lbfgs", "--steps", 20,
        "--survivors", "nearest", "-o", path, "--checkpoint", state, "--checkpoint-seconds", 0,
    )  # fmt: skip
    failed(result, "No space left")
    assert files(small_disk) == []


def test_a_full_cache_costs_no_results(small_disk):
    graphs = [wm.graphs.grid(8, n) for n in range(8, 16)]
    (small_disk / "ballast").write_bytes(bytes(56 * 1024))
    with pytest.warns(UserWarning, match="could not be kept.*No space left"):
        made = wm.factorize_many(graphs, core=4, k=8, cache=small_disk)
    alone = wm.factorize_many(graphs, core=4, k=8)
    assert [f.error() for f in made] == [f.error() for f in alone]
    assert files(small_disk) == ["ballast"]


def test_a_cache_that_becomes_read_only_costs_no_results(small_disk):
    graphs = [wm.graphs.cycle(n) for n in range(6, 26)]

    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.warns(UserWarning, match="could not be kept"):
        made = wm.factorize_many(graphs, core=2, k=4, cache=small_disk)
    assert [f.n for f in made] == list(range(6, 26))


def test_a_read_only_disk(small_disk):
    path = small_disk / "f.mmf"
    wm.factorize(wm.graphs.karate(), core=8, k=2).save(path)
    before = path.read_bytes()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises((InvalidInputError, OSError), match=r"[Rr]ead-only"):
        wm.factorize(wm.graphs.karate(), core=8, k=4).save(path)
    # Said before the work begins.
    failed(run("factorize", "karate", "--core", 8, "--k", 4, "-o", path), "ead-only")
    assert path.read_bytes() == before
    assert files(small_disk) == ["f.mmf"]


SHARING = """
import sys, numpy as np, wavemmf as wm
graphs = [wm.graphs.cycle(n) for n in range(6, 26)]
made = wm.factorize_many(graphs, core=2, k=4, cache=sys.argv[1])
print([f.error() for f in made])
"""


def test_processes_share_a_cache(tmp_path):
    def once(_):
        command = [sys.executable, "-c", SHARING, str(tmp_path)]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(once, range(3)))
    assert len({each.stdout for each in done}) == 1
    assert not any(name.endswith(".tmp") for name in files(tmp_path))
    graphs = [wm.graphs.cycle(n) for n in range(6, 26)]
    kept = files(tmp_path)
    again = wm.factorize_many(graphs, core=2, k=4, cache=tmp_path)
    np.testing.assert_allclose([f.error() for f in again], eval(done[0].stdout), rtol=0)
    assert files(tmp_path) == kept


@pytest.mark.parametrize(
    "ask",
    [
        lambda: wm.factorize(np.eye(2000), core=10, k=2),
        lambda: wm.factorize(wm.graphs.grid(40, 50), core=10, k=2).to_dense(),
        lambda: wm.baselines.truncated_eigh(wm.graphs.grid(40, 50), 5),
    ],
)
def test_too_little_memory_is_said_with_the_number(ask, monkeypatch):
    wm.factorize(wm.graphs.grid(40, 50), core=10, k=2)
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", str(10 * 2**20))
    with pytest.raises(TooLargeError, match=r"needs \d+\.\d GiB, but 0\.0 GiB are available"):
        ask()


def test_the_limit_of_a_container_counts(tmp_path, monkeypatch):
    """A container may have less memory than its machine."""
    from wavemmf._validation import _memory as validation

    limit, used, statistics = (tmp_path / name for name in ("limit", "used", "statistics"))
    limit.write_text(str(300 * 2**20))
    used.write_text(str(150 * 2**20))
    statistics.write_text(f"active_file 7\ninactive_file {50 * 2**20}\n")
    container = (str(tmp_path), limit.name, used.name, statistics.name)
    monkeypatch.setattr(validation, "_CONTAINERS", (container,))
    monkeypatch.delenv("WAVEMMF_MAX_MEMORY", raising=False)
    with pytest.raises(TooLargeError, match=r"0\.2 GiB are available"):
        validation.check_memory(2**28, "this")
    validation.check_memory(2**27, "this")
    limit.write_text("max")
    validation.check_memory(2**28, "this")
    limit.unlink()
    validation.check_memory(2**28, "this")
