"""``wavemmf warmup``."""

from __future__ import annotations

from typer.testing import CliRunner

from wavemmf import _warmup
from wavemmf.cli import app


def test_every_job_is_run_and_told(monkeypatch):
    told = []

    class Pool:
        def __init__(self, workers, mp_context):
            assert workers == 2

        def __enter__(self):
            return self

        def __exit__(self, *ended):
            return None

        def submit(self, function, name):
            from concurrent.futures import Future

            job = Future()
            job.set_result(None)
            return job

    monkeypatch.setattr(_warmup, "ProcessPoolExecutor", Pool)
    _warmup.warm_up(2, lambda done, total, note: told.append((done, total, note)))
    assert [done for done, _, _ in told] == list(range(len(_warmup.JOBS) + 1))
    assert {note for _, _, note in told[1:]} == set(_warmup.JOBS)


def test_the_command_says_what_it_did(monkeypatch):
    monkeypatch.setattr("wavemmf.cli.warmup.warm_up", lambda workers, progress: None)
    result = CliRunner().invoke(app, ["warmup"])
    assert result.exit_code == 0
    assert "sets of kernels are compiled" in result.output
