"""Kill long commands at random moments and look at what they leave behind.

    python tools/kill_tests.py [--kills 50] [--seed 0] [--only "classify nodes"]

Every command is first run once without being disturbed. Then it is killed (SIGKILL) at a random
moment while an older result stands where it writes. Afterwards that file must be the old one or
the new one, whole; the same command run again must end with the result of the undisturbed run.
Prints one line per command and exits with 1 if anything was lost.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option

CHECKPOINT = ["--checkpoint", "state.ckpt", "--checkpoint-seconds", "0"]


@dataclass(frozen=True)
class Scenario:
    """A command, the file it writes, and what of that file must be the same again."""

    name: str
    arguments: list[str]
    output: str
    prepare: Callable[[Path], None]
    content: Callable[[Path], Any]


def factorization(path: Path) -> Any:
    """Return all numbers of a factorization; times of its history may differ."""
    f = wm.load(path)
    return f.rotations.blocks.tobytes(), f.frequencies.tobytes(), f.h.to_sparse().data.tobytes()


def policy(path: Path) -> Any:
    """Return the weights of a policy, and the errors of its training."""
    loaded = wm.rl.load_policy(path)
    weights = loaded.state_dict()
    return {name: tensor.tolist() for name, tensor in weights.items()}, list(
        map(float, loaded.history.errors)
    )


def accuracies(folder: Path) -> Any:
    """Return the accuracies of all runs of a folder."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        found[path.name] = {k: v for k, v in record["result"].items() if k != "seconds"}
    return found


def old_factorization(folder: Path) -> None:
    """Leave a coarse result where the command writes, and to refine."""
    for name in ("out.mmf", "start.mmf"):
        wm.factorize(wm.graphs.named("cayley"), core=8, k=4).save(folder / name)


def old_policy(folder: Path) -> None:
    """Leave an untrained policy where the command writes."""
    made = wm.rl.train_policy(wm.graphs.karate(), core=8, k=4, episodes=0, seed=1)
    made.save(folder / "out.safetensors")


def nothing(folder: Path) -> None:
    """Leave nothing."""


SCENARIOS = [
    Scenario(
        "factorize",
        ["factorize", "cayley", "--core", "8", "--k", "8", "--optimize", "lbfgs", "--steps", "300",
         "--tolerance", "0", "-o", "out.mmf", *CHECKPOINT],
        "out.mmf", old_factorization, factorization,
    ),
    Scenario(
        "refine",
        ["refine", "start.mmf", "cayley", "-o", "out.mmf", "--steps", "600", "--tolerance", "0",
         *CHECKPOINT],
        "out.mmf", old_factorization, factorization,
    ),
    Scenario(
        "policy train",
        ["policy", "train", "karate", "--core", "8", "--k", "4", "--episodes", "160",
         "-o", "out.safetensors", *CHECKPOINT],
        "out.safetensors", old_policy, policy,
    ),
    Scenario(
        "classify nodes",
        ["classify", "nodes", "--dataset", "karate", "--model", "wavelet,gcn", "--runs", "3",
         "--epochs", "60", "--results", "out"],
        "out", nothing, accuracies,
    ),
]  # fmt: skip


def start(scenario: Scenario, folder: Path) -> subprocess.Popen[bytes]:
    """Run the command in a folder of its own."""
    command = [sys.executable, "-m", "wavemmf", *scenario.arguments]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finish(scenario: Scenario, folder: Path) -> None:
    """Run the command to its end."""
    process = start(scenario, folder)
    _, messages = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{scenario.name} failed: {messages.decode()}")


def fresh(scenario: Scenario, base: Path, name: str) -> Path:
    """Return a new folder with what was there before the command."""
    folder = base / name
    folder.mkdir()
    scenario.prepare(folder)
    return folder


def kill_once(scenario: Scenario, before: Path, folder: Path, wanted: Any, moment: float) -> str:
    """Kill the command after `moment` seconds; return what is wrong, or nothing."""
    shutil.copytree(before, folder)
    old = None
    if (before / scenario.output).is_file():
        old = scenario.content(folder / scenario.output)
    process = start(scenario, folder)
    time.sleep(moment)
    process.kill()
    process.communicate()
    if old is not None and scenario.content(folder / scenario.output) not in (old, wanted):
        return "the file is neither the old nor the new one"
    finish(scenario, folder)
    if scenario.content(folder / scenario.output) != wanted:
        return "the resumed run ended with another result"
    return ""


def kill_often(scenario: Scenario, base: Path, kills: int, rng: random.Random) -> list[str]:
    """Kill the command again and again; return what went wrong."""
    before = fresh(scenario, base, f"{scenario.name} before")
    undisturbed = base / f"{scenario.name} undisturbed"
    shutil.copytree(before, undisturbed)
    begin = time.perf_counter()
    finish(scenario, undisturbed)
    spent = time.perf_counter() - begin
    wanted = scenario.content(undisturbed / scenario.output)
    wrong = []
    for number in range(kills):
        # The first fifth is the start of Python, in which there is nothing to lose.
        moment = rng.uniform(0.2, 1.0) * spent
        folder = base / f"{scenario.name} {number}"
        problem = kill_once(scenario, before, folder, wanted, moment)
        if problem:
            wrong.append(f"{scenario.name}, killed after {moment:.2f} s: {problem}")
        shutil.rmtree(folder)
    print(
        f"{scenario.name:<16} {kills} kills in {spent:.1f} s of work, {len(wrong)} losses",
        flush=True,
    )
    return wrong


def main() -> int:
    """Run all scenarios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50, help="altogether")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", help="names of commands, as they are printed")
    add_record_option(parser)
    arguments = parser.parse_args()
    keep = Recorder(arguments.record)
    rng = random.Random(arguments.seed)
    wrong: list[str] = []
    rows = []
    chosen = [s for s in SCENARIOS if not arguments.only or s.name in arguments.only]
    with tempfile.TemporaryDirectory() as base:
        for number, scenario in enumerate(chosen):
            share = arguments.kills // len(chosen)
            share += number < arguments.kills % len(chosen)
            losses = kill_often(scenario, Path(base), share, rng)
            rows.append({"command": scenario.name, "kills": share, "losses": losses})
            wrong += losses
    settings = {"kills": arguments.kills, "only": arguments.only}
    keep("kill_tests", [], settings, [arguments.seed], rows)
    print("\n".join(wrong) if wrong else f"{arguments.kills} kills, nothing lost")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
