"""Every notebook runs from top to bottom, with few games; the first one in the quick tests."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

HERE = Path(__file__).parents[1] / "notebooks"
NAMES = sorted(path.stem for path in HERE.glob("*.ipynb"))
SECONDS = 120


def test_the_notebooks_are_all_there() -> None:
    assert [name[:2] for name in NAMES] == ["01", "02", "03", "04", "05", "06"]


@pytest.mark.parametrize(
    "name",
    [name if name.startswith("01") else pytest.param(name, marks=pytest.mark.slow) for name in NAMES],
)
def test_runs_from_top_to_bottom(name: str) -> None:
    notebook = nbformat.read(HERE / f"{name}.ipynb", 4)
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    first.source, found = re.subn(r"games = [\d_]+", "games = 400", first.source)
    assert found == 1
    kernel = NotebookClient(
        notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": str(HERE)}}
    )
    kernel.execute()


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_kept_and_name_no_error(name: str) -> None:
    notebook = nbformat.read(HERE / f"{name}.ipynb", 4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    kinds = {output.output_type for cell in code for output in cell.outputs}
    assert "error" not in kinds and kinds & {"execute_result", "display_data"}
    assert all(cell.execution_count for cell in code)
