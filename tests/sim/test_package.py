"""The package as users get it: light imports, and a wheel with nothing but the two packages."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("numba", "numpy", "polars", "scipy", "joblib", "pydantic", "matplotlib", "rich", "ruamel")


@pytest.mark.parametrize("module", ["sim", "analysis", "analysis.cli"])
def test_importing_is_light(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_no_kernel_and_no_import_from_play_in_modules_left_out_of_the_digest() -> None:
    from sim._jit import ABOVE_PLAY

    modules = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "sim").glob("*.py")}
    for name in ABOVE_PLAY:
        assert "@kernel" not in modules[name]
    play = [text for name, text in modules.items() if name not in ABOVE_PLAY and "@kernel" in text]
    play += [path.read_text(encoding="utf-8") for path in (ROOT / "sim" / "rules").glob("*.py")]
    play += [path.read_text(encoding="utf-8") for path in (ROOT / "sim" / "bots").glob("*.py")]
    for name in ABOVE_PLAY:
        assert not any(f"from sim.{name} import" in text for text in play), name


def test_wheel_holds_the_two_packages_and_the_presets(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in ("sim", "analysis", "variants"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "-q",
            "--no-deps",
            "--no-build-isolation",
            "-w",
            tmp_path,
            source,
        ],
        check=True,
        capture_output=True,
        env={"PATH": "/usr/bin:/bin", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1"},
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"sim", "analysis"}
    for name in ("base", "two_wang", "three_wang", "four_wang"):
        assert f"sim/presets/{name}.yaml" in names
    assert "sim/presets/schema.json" in names
    assert "sim/replay_page/page.html" in names
    assert "analysis/templates/report.html.j2" in names
