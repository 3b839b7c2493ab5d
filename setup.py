"""Build step: a wheel carries the packaged variants as ``sim/presets``.

The folder ``variants/`` lies beside the packages, as the layout wants it; an installed wheel has no such folder.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithPresets(build_py):
    """Copy ``variants/`` into the built ``sim`` package."""

    def run(self) -> None:
        """Build as usual, then copy."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "sim" / "presets"
        target.mkdir(parents=True, exist_ok=True)
        for source in sorted(Path("variants").iterdir()):
            if source.suffix in (".yaml", ".json"):
                shutil.copyfile(source, target / source.name)


setup(cmdclass={"build_py": BuildWithPresets})
