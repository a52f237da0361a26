"""Trained things in files: safetensors with a JSON description, never pickle."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ._files import atomic_write, check_writable
from ._json import exact_json, read_exact_json
from ._optional import require
from ._version import __version__
from .errors import FileFormatError, InvalidInputError

__all__ = ["TensorFile", "check_claims"]

_KEY = "wavemmf"

Made = TypeVar("Made")
Tensors = Mapping[str, Any]


@dataclass(frozen=True)
class TensorFile:
    """A format of files: groups of named tensors and a description.

    Parameters
    ----------
    format, kind : str
        The format's name in the file, and what it holds, in words.
    version : int
        What is written, and the latest that can be read.
    """

    format: str
    kind: str
    version: int

    def write(
        self, path: str | os.PathLike[str], header: dict[str, Any], groups: Mapping[str, Tensors]
    ) -> None:
        """Write groups of tensors, whole or not at all."""
        check_writable(path)
        described = {
            "format": self.format,
            "version": self.version,
            "written_by": f"wavemmf {__version__}",
            **header,
        }
        tensors = {
            f"{group}.{name}": value.detach().cpu().contiguous()
            for group, members in groups.items()
            for name, value in members.items()
        }
        content = require("safetensors.torch", extra="torch").save(
            tensors, metadata={_KEY: exact_json(described)}
        )
        with atomic_write(path) as stream:
            stream.write(content)

    def read(
        self,
        path: str | os.PathLike[str],
        make: Callable[[dict[str, Any], dict[str, dict[str, Any]]], Made],
    ) -> Made:
        """Return ``make(header, groups)``; whatever that cannot digest is a damaged file.

        Raises
        ------
        InvalidInputError
            If there is no such file.
        FileFormatError
            If it is damaged, of another kind, or written by a later version.
        """
        file = Path(path)
        if not file.is_file():
            raise InvalidInputError(f"no such file: {file}")
        safetensors = require("safetensors", extra="torch")
        try:
            with safetensors.safe_open(str(file), framework="pt") as content:
                header = self._check_header(content.metadata(), file)
                tensors = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
            return make(header, _grouped(tensors))
        except FileFormatError:
            raise
        except safetensors.SafetensorError as error:
            raise FileFormatError(f"{file} is not a whole safetensors file: {error}") from error
        except (KeyError, TypeError, ValueError, RuntimeError, OSError) as error:
            raise FileFormatError(f"{file} is damaged: {error}") from error

    def _check_header(self, metadata: dict[str, str] | None, file: Path) -> dict[str, Any]:
        header = read_exact_json((metadata or {}).get(_KEY, "{}"))
        if not isinstance(header, dict) or header.get("format") != self.format:
            raise FileFormatError(f"{file} is a safetensors file, but not {self.kind} of wavemmf")
        version = header["version"]
        if type(version) is not int:
            raise ValueError(f"its version is {version!r}, not a whole number")
        if version > self.version:
            raise FileFormatError(
                f"{file} has version {header['version']} of the format "
                f"({header.get('written_by')}); this is wavemmf {__version__}, which reads up to "
                f"{self.version}: update it"
            )
        return header


def check_claims(lengths: Mapping[str, Any], make: Callable[[], Any], tensors: Tensors) -> None:
    """Refuse a description that promises more than the file holds, before room is made for it.

    Parameters
    ----------
    lengths : dict
        Numbers in the description that something is counted up to.
    make : function
        Builds the module that is described; it is built without memory for its numbers.
    tensors : dict
        The numbers that are there.
    """
    held = sum(tensor.numel() for tensor in tensors.values())
    for name, length in lengths.items():
        if length > held:
            raise ValueError(f"it claims {name} = {length!r}, but holds {held} numbers")
    with require("torch", extra="torch").device("meta"):
        claimed = sum(tensor.numel() for tensor in make().state_dict().values())
    if claimed > held:
        raise ValueError(f"it claims {claimed} numbers, but holds {held}")


def _grouped(tensors: Tensors) -> dict[str, dict[str, Any]]:
    groups: dict[str, dict[str, Any]] = {}
    for name, value in tensors.items():
        group, _, member = name.partition(".")
        groups.setdefault(group, {})[member] = value
    return groups
