"""``wavemmf policy``: train, apply, info, and ``factorize --policy``."""

from __future__ import annotations

import csv
import json
import sys

import pytest

pytest.importorskip("torch")

import wavemmf as wm
from command_line import failed, run
from wavemmf.rl import load_policy

SIZES = ("--core", 8, "--k", 8)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Train a policy with all that can be written; return the folder and what was printed."""
    folder = tmp_path_factory.mktemp("policy")
    result = run(
        "policy", "train", "karate", *SIZES, "--episodes", 8, "--batch", 4, "--preset", "guided",
        "-o", folder / "p.safetensors", "--curve", folder / "c.csv", "--curve", folder / "c.png",
        "--checkpoint", folder / "state", "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return folder, json.loads(result.stdout)


def test_train(trained):
    folder, told = trained
    policy = load_policy(folder / "p.safetensors")
    assert told["history"]["episodes"] == policy.history.episodes == 8
    assert told["settings"] == policy.settings.to_json()
    assert told["trained_with"]["preset"] == "guided"
    assert told["output"] == str(folder / "p.safetensors")
    rows = list(csv.DictReader((folder / "c.csv").read_text().splitlines()))
    assert [float(row["error"]) for row in rows] == policy.history.errors.tolist()
    assert (folder / "c.png").read_bytes()[1:4] == b"PNG"
    assert not (folder / "state").exists()


def test_info(trained):
    path = trained[0] / "p.safetensors"
    told = json.loads(run("policy", "info", path, "--json").stdout)
    assert told["file_bytes"] == path.stat().st_size
    assert told["history"] == trained[1]["history"]
    text = run("policy", "info", path).stdout
    assert "3 layers of width 16" in text
    assert "best error" in text


def test_apply(trained, tmp_path):
    policy, output = trained[0] / "p.safetensors", tmp_path / "f.mmf"
    result = run("policy", "apply", policy, "karate", "--core", 8, "-o", output, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    f = wm.load(output)
    assert told["error"] == f.error()
    assert (told["k"], told["parameters"]["select"], told["policy"]) == (8, "policy", str(policy))
    better = run("policy", "apply", policy, "karate", "--core", 8, "--optimize", "lbfgs", "--json")
    assert json.loads(better.stdout)["error"] < told["error"]
    same = run("factorize", "karate", *SIZES, "--policy", policy, "--json")
    assert json.loads(same.stdout)["error"] == told["error"]
    samples = run("policy", "apply", policy, "karate", "--core", 8, "--restarts", 8, "--json")
    assert json.loads(samples.stdout)["restarts"]["runs"] == 8


def test_clusters(tmp_path):
    output = tmp_path / "p.safetensors"
    result = run(
        "policy", "train", "grid", "--clusters", 100, "--core", "0.2", "--episodes", 2, "--batch",
        1, "-o", output, "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["trained_with"]["graphs"] > 2


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("--preset", "magic"), ("preset must be one of 'paper', 'reduced-variance'",)),
        (("--core", "many"), ("--core must be", "'many'")),
        (("--core", "80"), ("core (for n = 34)",)),
        (("--curve", "c.txt"), ("suffix",)),
        (("--episodes", "-1"), ("episodes",)),
        (("--clusters", "10"), ("no cluster",)),
    ],
)
def test_bad_options(options, parts, tmp_path):
    output = tmp_path / "p.safetensors"
    failed(run("policy", "train", "karate", "-o", output, *options), *parts)
    assert not output.exists()


def test_bad_files(trained, tmp_path):
    policy = trained[0] / "p.safetensors"
    failed(run("policy", "info", tmp_path / "no"), "no such file")
    (tmp_path / "bad").write_bytes(b"nonsense")
    failed(run("policy", "apply", tmp_path / "bad", "karate"), "not a whole safetensors file")
    failed(run("policy", "apply", policy, "nothing"), "neither a file nor a data set")
    failed(run("policy", "apply", policy, "karate", "--steps", 3), "--optimize")
    failed(
        run("factorize", "karate", "--policy", policy, "--select", "random"),
        "takes the place of --select random",
    )
    missing = tmp_path / "no" / "p.safetensors"
    failed(run("policy", "train", "karate", "-o", missing), "does not exist")


def test_interrupted(tmp_path, monkeypatch):
    module = sys.modules["wavemmf.rl._trainer"]
    real = module.play
    calls = []

    def play(*arguments, **settings):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*arguments, **settings)

    monkeypatch.setattr(module, "play", play)
    output = tmp_path / "p.safetensors"
    result = run("policy", "train", "karate", *SIZES, "--batch", 4, "-o", output)
    assert result.exit_code == 130
    assert "the policy so far" in result.stderr
    assert load_policy(output).history.episodes == 8
