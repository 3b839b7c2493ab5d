"""The only door to numba: the ``kernel`` decorator, its cache, and the digest of the source.

numba's own cache does not notice a change in *another* file than the one of the function (a callee, a
constant) and would go on using stale machine code, which is fatal for a tool that compares rules. So the
cache folder is keyed by a digest of the whole package, and that digest goes into every manifest.

With ``NUMBA_DISABLE_JIT=1`` numba is not imported at all and the same source runs as plain Python.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

F = TypeVar("F", bound=Callable[..., Any])

PURE = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
"""True when kernels run as plain Python."""

KEPT_CACHES = 6  # source states whose machine code is kept; older ones are deleted


ABOVE_PLAY = (
    "board",
    "explain",
    "gamelog",
    "handlab",
    "logcheck",
    "logread",
    "manifest",
    "merge",
    "progress",
    "replay",
    "replay_frames",
    "replay_html",
    "replay_text",
    "replay_words",
    "rulebook",
    "run",
    "store",
    "valuation",
    "variant",
    "variant_model",
    "variant_yaml",
    "verify",
    "whatif",
    "whatif_words",
)
"""Modules of ``sim`` that hold no kernel and that no kernel module imports: they cannot change how a game goes."""


def _hash_sources() -> Any:
    """SHA-256 over every source file that can change how a game goes."""
    root = Path(__file__).resolve().parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        if path.parent != root or path.stem not in ABOVE_PLAY:
            digest.update(path.relative_to(root).as_posix().encode())
            digest.update(path.read_bytes())
    return digest


@cache
def rules_digest() -> str:
    """Sixteen hex digits of the source that plays: the same on every machine and Python."""
    return str(_hash_sources().hexdigest())[:16]


@cache
def source_digest() -> str:
    """The same with the versions of numba, numpy and Python: what compiled code depends on."""
    digest = _hash_sources()
    for package in ("numba", "numpy"):
        digest.update(f"{package}={version(package)}".encode())
    digest.update(f"python={sys.version_info[0]}.{sys.version_info[1]}".encode())
    return str(digest.hexdigest())[:16]


def _cache_root() -> Path:
    if "CHEHUZI_CACHE" in os.environ:
        return Path(os.environ["CHEHUZI_CACHE"])
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "chehuzi"


@cache
def cache_folder() -> Path:
    """Folder for machine code and tables of this source state; falls back to a temporary one."""
    folder = _cache_root() / source_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        return Path(tempfile.mkdtemp(prefix="chehuzi-cache-"))
    _prune(folder)
    return folder


def _prune(current: Path) -> None:
    others = [p for p in current.parent.iterdir() if p.is_dir() and p != current and len(p.name) == 16]
    others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for stale in others[KEPT_CACHES - 1 :]:
        shutil.rmtree(stale, ignore_errors=True)


def is_warm() -> bool:
    """Whether machine code for this source state lies in the cache already (always true in pure mode)."""
    return PURE or any(cache_folder().rglob("*.nbc"))


if PURE:

    def kernel(function: F) -> F:
        """Leave ``function`` as it is: pure mode."""
        return function

else:
    import numba
    from numba.core import config

    config.CACHE_DIR = str(cache_folder())  # type: ignore[attr-defined]
    _njit = numba.njit(cache=True, error_model="numpy", nogil=True)

    def kernel(function: F) -> F:
        """Compile ``function`` to machine code, cached on disk.

        Kernels use int64 scalars and integer arrays only, allocate nothing, raise nothing and call only other
        kernels.
        """
        compiled: Any = _njit(function)
        resolve = compiled.get_call_template

        def resolve_plain(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
            # else every constant argument makes a machine code of its own: five times the time to compile
            plain = tuple(numba.types.unliteral(arg) for arg in args)  # type: ignore[no-untyped-call]
            return resolve(plain, kws)

        compiled.get_call_template = resolve_plain
        return compiled  # type: ignore[no-any-return]


def record(fields: dict[str, int | npt.NDArray[Any]]) -> Any:
    """A bundle of named numbers and arrays that kernels take as one argument.

    Compiled, it is a numpy record: kernels get a single pointer, and reading a field counts no references (a
    NamedTuple of arrays costs some 10 ns for each field read, and much longer to compile). In pure mode it is a
    plain namespace of the same names, which Python reads faster.

    Parameters
    ----------
    fields : dict
        Name to number or array; arrays are copied.

    Returns
    -------
    numpy.record or SimpleNamespace
        Attributes of the given names; arrays can be written to in place.
    """
    if PURE:
        return SimpleNamespace(
            **{name: value if isinstance(value, int) else value.copy() for name, value in fields.items()}
        )
    layout = [
        (name, np.int64, ()) if isinstance(value, int) else (name, value.dtype, value.shape)
        for name, value in fields.items()
    ]
    bundle = np.zeros(1, dtype=np.dtype(layout, align=True)).view(np.recarray)
    for name, value in fields.items():
        bundle[name][0] = value
    return bundle[0]


def stored_table(
    name: str, shape: tuple[int, ...], build: Callable[[], npt.NDArray[Any]]
) -> npt.NDArray[Any]:
    """A table from the cache folder, or built and kept there for the next process.

    Parameters
    ----------
    name : str
        File name without ending; must say all that the table depends on besides the source of ``sim``.
    shape : tuple of int
        A file of another shape is built anew.
    build : callable
        Makes the table.
    """
    path = cache_folder() / f"{name}.npy"
    try:
        table: npt.NDArray[Any] = np.load(path, allow_pickle=False)
        if table.shape == shape:
            return table
    except (OSError, ValueError, EOFError):
        pass
    table = build()
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            np.save(file, table)
        Path(file.name).replace(path)
    except OSError:
        pass  # a cache that cannot be written is no fault
    return table
