"""What an installed copy of wavemmf promises: version, extras, command, lazy imports."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import wavemmf
from wavemmf._optional import require
from wavemmf.errors import MissingDependencyError

PACKAGE = Path(wavemmf.__file__).parent
ROOT = Path(__file__).parents[1]
EXTRAS = metadata.metadata("wavemmf").get_all("Provides-Extra")


def required_extras():
    """Yield the extra named by every call ``require(module, extra)`` in the package."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "require":
                extra = node.args[1] if len(node.args) > 1 else node.keywords[0].value
                yield path.name, ast.literal_eval(extra)


def test_version_is_the_installed_one():
    assert wavemmf.__version__ == metadata.version("wavemmf")


def test_the_changelog_has_a_place_for_changes():
    assert "## [Unreleased]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_types_are_published():
    assert (PACKAGE / "py.typed").is_file()


def test_the_files_that_are_not_python_are_in_the_wheel(tmp_path):
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", source / "src", ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    code = f"from setuptools import build_meta; build_meta.build_wheel({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=source, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    assets = {path.name for path in (PACKAGE / "report" / "assets").iterdir()}
    assert {f"wavemmf/report/assets/{name}" for name in assets} <= inside
    assert "page.html" in assets
    assert "wavemmf/datasets/digests.sha256" in inside


def test_the_command_is_installed():
    (command,) = metadata.entry_points(group="console_scripts", name="wavemmf")
    assert callable(command.load())


def test_a_missing_package_names_its_extra():
    with pytest.raises(MissingDependencyError, match=r"'no_such_package'.*wavemmf\[torch\]"):
        require("no_such_package.part", "torch")


def test_every_extra_named_in_an_error_exists():
    named = set(required_extras())
    assert named
    assert {extra for _, extra in named} <= set(EXTRAS)


def test_importing_wavemmf_leaves_optional_packages_alone():
    optional = ["matplotlib", "networkx", "pandas", "sklearn", "torch"]
    code = f"import sys, wavemmf; print(*[m for m in {optional} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_everything_make_installs_is_pinned():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    assert all(str(pin.specifier).startswith("==") for pin in pins)
    pinned = {canonicalize_name(pin.name) for pin in pins}
    needed = {
        canonicalize_name(need.name)
        for need in map(Requirement, metadata.requires("wavemmf"))
        if need.marker is None or any(need.marker.evaluate({"extra": e}) for e in ("dev", "test"))
    }
    assert needed - {"wavemmf"} <= pinned


def test_the_layer_contract_covers_every_module():
    tomllib = pytest.importorskip("tomllib", reason="tomllib needs Python 3.11")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = project["tool"]["importlinter"]["contracts"]
    assert contract["name"] == "layers"
    assert contract["exhaustive"] is True
