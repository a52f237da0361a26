"""Fixtures and settings shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import settings

# The first call of a kernel compiles it, so a deadline would fail by chance.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

if numba.config.DISABLE_JIT:  # vector instructions exist in compiled code only
    import plain_simd

    plain_simd.install()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest: at the end, one worker would do it and the others wait."""
    items.sort(key=lambda item: item.get_closest_marker("longest") is None)


@pytest.fixture
def data_dir() -> Path:
    """Return the folder of public data sets; tests that need it are skipped without it."""
    folder = os.environ.get("WAVEMMF_DATA")
    if not folder:
        pytest.skip("set WAVEMMF_DATA to the folder of data sets to run this")
    return Path(folder)


@pytest.fixture
def need_data(data_dir: Path) -> Callable[[str], None]:
    """Return a function that skips the test unless the data folder has such files."""

    def need(pattern: str) -> None:
        if not any(data_dir.glob(pattern)):
            pytest.skip(f"WAVEMMF_DATA has no {pattern}")

    return need


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a random generator that is the same in every run."""
    return np.random.default_rng(0)


@pytest.fixture
def one_torch_thread() -> Iterator[None]:
    """Let torch use one thread: several test workers share the cores."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
