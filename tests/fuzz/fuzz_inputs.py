"""Coverage-guided fuzzing of the readers with atheris, where it is installed: ``fuzz_inputs.py [libFuzzer options]``.

Any exception that is not the reader's own is a crash. Hypothesis does the same without coverage in
``tests/sim/test_hostile.py``, which is what the suite runs.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

try:
    import atheris
except ImportError:
    sys.exit("atheris is not installed here; pytest -m slow tests/sim/test_hostile.py does without")

with atheris.instrument_imports(include=["sim"]):
    from sim.cards import CardError
    from sim.explain import QueryError
    from sim.handlab import answer_batch
    from sim.logread import LogError, iter_log
    from sim.manifest import MANIFEST, RunError, read_manifest
    from sim.replay import log_lines
    from sim.variant import VariantError, load_variant

FOLDER = Path(tempfile.mkdtemp(prefix="chehuzi-fuzz-"))


def one_input(data: bytes) -> None:
    """One input to the reader that its first byte chooses."""
    door, content = (data[0] % 5, data[1:]) if data else (0, b"")
    try:
        if door == 0:
            (FOLDER / "room.yaml").write_bytes(content)
            load_variant(FOLDER / "room.yaml")
        elif door == 1:
            load_variant("two_wang", [content.decode("utf-8", "replace")])
        elif door == 2:
            list(iter_log(log_lines(io.BytesIO(content))))
        elif door == 3:
            (FOLDER / "hands.jsonl").write_bytes(content)
            list(answer_batch(FOLDER / "hands.jsonl"))
        else:
            (FOLDER / MANIFEST).write_bytes(content)
            read_manifest(FOLDER)
    except (VariantError, QueryError, CardError, LogError, RunError):
        pass


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
