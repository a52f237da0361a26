"""How the command begins: interrupted while it is imported, or with streams that are closed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import wavemmf as wm
from wavemmf._progress import is_terminal, progress_bar

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and descriptors of POSIX")

SOURCE = Path(wm.__file__).parents[1]
INTERRUPTING = """
import os, signal, time
os.kill(os.getpid(), signal.SIGINT)
time.sleep(60)
"""
SCRIPT = "import sys\nfrom wavemmf.cli import main\nsys.exit(main())\n"


def start(folder, *arguments, **settings):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(SOURCE)])}
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=environment, capture_output=True, text=True, check=False, timeout=120, **settings,
    )  # fmt: skip


@pytest.mark.parametrize("module", ["numba", "typer"])
@pytest.mark.parametrize("way", ["-m", "script"])
def test_an_interrupt_during_imports_is_an_ordinary_end(tmp_path, module, way):
    (tmp_path / f"{module}.py").write_text(INTERRUPTING)
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "wavemmf"
    script.write_text(SCRIPT)
    done = start(tmp_path, *(("-m", "wavemmf") if way == "-m" else (script,)), "--version")
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_other_programs_are_interrupted_as_always(tmp_path):
    (tmp_path / "numba.py").write_text(INTERRUPTING)
    program = tmp_path / "program.py"
    program.write_text(
        "try:\n    import wavemmf\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
    )
    done = start(tmp_path, program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


def test_the_usual_handler_is_back_after_the_imports(tmp_path):
    program = tmp_path / "wavemmf"
    program.write_text(
        "import signal, wavemmf.cli\n"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    )
    assert start(tmp_path, program).stdout == "True\n"


CLOSED = ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"]


@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize("more", ["", "--json"])
def test_closed_streams_are_no_failure(tmp_path, closed, more):
    path = tmp_path / "f.mmf"
    command = f'"{sys.executable}" -m wavemmf factorize karate --core 8 --k 2 -o {path} {more}'
    done = subprocess.run(
        ["sh", "-c", f"{command} {closed}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert ("core" in done.stdout) == (">&-" not in closed.split())
    assert wm.load(path).core_size == 8


@pytest.mark.parametrize("closed", CLOSED)
def test_errors_keep_their_code_without_streams(closed):
    command = f'"{sys.executable}" -m wavemmf factorize absent.edges {closed}'
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (2, b"")
    assert (b"error: " in done.stderr) == ("2>&-" not in closed)


def test_no_file_takes_the_place_of_a_closed_stream():
    code = (
        "import os\n"
        "from wavemmf._startup import open_standard_streams\n"
        "open_standard_streams()\n"
        "found = os.open(os.devnull, os.O_RDONLY)\n"
        "os._exit(found)"
    )
    command = f'"{sys.executable}" -c "{code}" <&- >&- 2>&-'
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=120)
    assert done.returncode >= 3


def test_the_library_works_without_streams(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with progress_bar("working") as report:
        report(1, 2, "")
    assert wm.factorize(wm.graphs.karate(), core=8, k=2).core_size == 8


def test_a_closed_stream_is_no_terminal(tmp_path):
    with (tmp_path / "file").open("w") as stream:
        assert not is_terminal(stream)
    assert not is_terminal(stream)
