"""Where results are written to: files, links, devices, and what is left behind."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import wavemmf as wm
from command_line import failed, run
from wavemmf import _files
from wavemmf._files import atomic_write, check_regular, check_writable
from wavemmf.errors import InvalidInputError
from wavemmf.optimize._checkpoint import Checkpoint

posix_only = pytest.mark.skipif(os.name != "posix", reason="links, FIFOs and modes of POSIX")


def write(path, content=b"new"):
    with atomic_write(path) as stream:
        stream.write(content)


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture
def fifo(tmp_path):
    """Return a FIFO, and a function that returns all that was written into it."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    content = []
    reader = threading.Thread(target=lambda: content.append(path.read_bytes()), daemon=True)
    reader.start()

    def received():
        reader.join(60)
        return content[0]

    return path, received


@posix_only
def test_a_fifo_is_written_into_and_stays_a_fifo(fifo, tmp_path):
    path, received = fifo
    f = wm.factorize(wm.graphs.karate(), core=8, k=2)
    f.save(path)
    assert stat.S_ISFIFO(os.stat(path).st_mode)
    copy = tmp_path / "copy.mmf"
    copy.write_bytes(received())
    assert wm.load(copy).error() == f.error()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["copy.mmf", "fifo"]


@posix_only
def test_a_failed_writer_sends_nothing_into_a_fifo(fifo):
    path, received = fifo

    def fail():
        with atomic_write(path) as stream:
            stream.write(b"half")
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        fail()
    write(path, b"whole")
    assert received() == b"whole"


@pytest.fixture
def device(tmp_path):
    """Return a character device that swallows everything, as /dev/null."""
    path = tmp_path / "null"
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        path.write_bytes(b"")
    except (OSError, AttributeError) as error:
        pytest.skip(f"devices cannot be made here: {error}")
    return path


def test_a_character_device_stays_one(device):
    run("factorize", "karate", "--core", 8, "--k", 2, "-o", device)
    assert stat.S_ISCHR(os.stat(device).st_mode)


def test_a_checkpoint_in_a_device_is_refused_and_the_device_stays(device):
    a = wm.graphs.karate().adjacency
    with pytest.raises(InvalidInputError, match="not a regular file"):
        wm.factorize(a, core=8, k=2, optimize=wm.optimize.LBFGS(checkpoint=device))
    with pytest.raises(InvalidInputError, match="not a regular file"):
        Checkpoint(device, "identity")
    assert stat.S_ISCHR(os.stat(device).st_mode)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc of Linux")
@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_standard_output_is_written_through(tmp_path, kind):
    """A link as /dev/stdout is one, but not the system's own: root could replace that."""
    link = tmp_path / "stdout"
    link.symlink_to("/proc/self/fd/1")
    code = (
        "import sys; from wavemmf._files import atomic_write\n"
        "print('before', flush=True)\n"
        "with atomic_write(sys.argv[1]) as stream: stream.write(b'content\\n')\n"
        "print('after')"
    )
    path = tmp_path / "out"
    with path.open("wb") as stream:
        output = stream if kind == "file" else subprocess.PIPE
        done = subprocess.run([sys.executable, "-c", code, link], stdout=output, check=True)
    text = path.read_bytes() if kind == "file" else done.stdout
    assert text == b"before\ncontent\nafter\n"
    assert os.readlink(link) == "/proc/self/fd/1"


@posix_only
def test_symbolic_links_are_followed(tmp_path):
    (tmp_path / "there").mkdir()
    real = tmp_path / "there" / "real"
    (tmp_path / "link").symlink_to("there/chain")
    (tmp_path / "there" / "chain").symlink_to("real")
    for content in (b"made", b"replaced"):
        write(tmp_path / "link", content)
        assert real.read_bytes() == content
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "chain").is_symlink()


@posix_only
def test_links_that_lead_nowhere_are_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(InvalidInputError, match="links lead nowhere"):
        check_writable(tmp_path / "a")
    (tmp_path / "c").symlink_to("absent/file")
    with pytest.raises(InvalidInputError, match=r"folder .*absent does not exist"):
        check_writable(tmp_path / "c")


@posix_only
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_file_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    seen = []
    with atomic_write(path) as stream:
        seen = [mode_of(p) for p in tmp_path.iterdir() if p != path]
        stream.write(b"new")
    assert path.read_bytes() == b"new"
    assert mode_of(path) == mode
    assert seen == [0o600]  # nobody else could read it in the meantime


@posix_only
def test_a_file_keeps_its_owner(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    try:
        os.chown(path, 1234, 1234)
    except PermissionError:
        pytest.skip("only root can give files away")
    write(path)
    assert (os.stat(path).st_uid, os.stat(path).st_gid) == (1234, 1234)


@posix_only
def test_a_new_file_has_the_rights_of_new_files_and_the_umask_is_left_alone(tmp_path, monkeypatch):
    (tmp_path / "plain").touch()
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("the umask was touched"))
    write(tmp_path / "file")
    assert mode_of(tmp_path / "file") == mode_of(tmp_path / "plain")


@posix_only
@pytest.mark.parametrize("length", [240, 255])
def test_every_name_that_the_disk_allows_can_be_written(tmp_path, length):
    path = tmp_path / ("x" * length)
    write(path)
    assert path.read_bytes() == b"new"


@posix_only
@pytest.mark.parametrize("name", ["x" * 256, "nul\0byte"])
def test_impossible_names_are_refused_before_the_work(tmp_path, name):
    for check in (check_writable, check_regular):
        with pytest.raises(InvalidInputError, match="cannot write"):
            check(tmp_path / name)


@posix_only
def test_the_command_refuses_a_name_that_is_too_long_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "wavemmf.cli.factorize.run_factorization", lambda *a, **k: pytest.fail("work was begun")
    )
    result = run("factorize", "karate", "--core", 8, "-o", tmp_path / ("x" * 256))
    failed(result, "cannot write", "too long")


KILLED = """
import os, signal, sys
from wavemmf._files import atomic_write
with atomic_write(sys.argv[1]) as stream:
    stream.write(b"half")
    stream.flush()
    {end}
"""


@posix_only
def test_the_next_writer_clears_what_a_killed_one_left(tmp_path):
    path = str(tmp_path / "file")
    kill = KILLED.format(end="os.kill(os.getpid(), signal.SIGKILL)")
    done = subprocess.run([sys.executable, "-c", kill, path], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    write(tmp_path / "another")
    assert [p.name for p in tmp_path.iterdir()] == ["another"]


@posix_only
def test_what_another_process_is_writing_is_not_cleared(tmp_path):
    wait = KILLED.format(end="print('writing', flush=True); sys.stdin.readline()")
    command = [sys.executable, "-c", wait, str(tmp_path / "file")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout.readline() == b"writing\n"
        write(tmp_path / "another")
        assert len(list(tmp_path.iterdir())) == 2
        writer.communicate(b"\n", timeout=60)
    assert (tmp_path / "file").read_bytes() == b"half"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["another", "file"]


def test_without_locks_only_old_leftovers_are_cleared(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "fcntl", None)
    for name, seconds in (("old", 0), ("young", None)):
        path = tmp_path / f".wavemmf-{name}.tmp"
        path.touch()
        if seconds is not None:
            os.utime(path, (seconds, seconds))
    (tmp_path / "old.tmp").touch()
    write(tmp_path / "file")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".wavemmf-young.tmp", "file", "old.tmp"]


def test_sixteen_threads_write_side_by_side(tmp_path):
    def repeat(content):
        for _ in range(20):
            write(tmp_path / "file", content)

    threads = [threading.Thread(target=repeat, args=(bytes([i]) * 5000,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    assert len(set((tmp_path / "file").read_bytes())) == 1


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1.0, "soon"])
def test_the_time_between_checkpoints_is_a_number(tmp_path, seconds):
    path = tmp_path / "state"
    with pytest.raises(InvalidInputError, match="checkpoint_seconds must be"):
        wm.optimize.LBFGS(checkpoint=path, checkpoint_seconds=seconds)


@pytest.mark.parametrize("command", ["factorize", "refine", "policy"])
def test_the_command_refuses_nan_seconds(tmp_path, command):
    f = tmp_path / "f.mmf"
    wm.factorize(wm.graphs.karate(), core=8, k=2).save(f)
    state = ("--checkpoint", tmp_path / "state", "--checkpoint-seconds", "nan")
    arguments = {
        "factorize": ("factorize", "karate", "--core", 8, "--optimize", "lbfgs"),
        "refine": ("refine", f, "karate"),
        "policy": ("policy", "train", "karate", "--core", 8, "-o", tmp_path / "p.safetensors"),
    }[command]
    if command == "policy":
        pytest.importorskip("torch", reason="policies need torch")
    failed(run(*arguments, *state), "checkpoint_seconds must be", "nan")
    assert [p for p in tmp_path.iterdir() if p != f] == []
    assert Path(f).is_file()
