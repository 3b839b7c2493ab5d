"""Mutation testing of ``sim/rules``: one small change at a time, in pure mode, must make a quick test fail.

    python tests/bench/mutation.py --sample 60 --seed 1

Tables and compiled kernels are cached by a digest of the source, so each mutant gets a copy of the tree and a process
of its own. Printed are the survivors and the share that was found, with a 95 % interval (Wilson) for all mutants. First
the unchanged source must pass.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scipy.stats import binomtest

ROOT = Path(__file__).resolve().parents[2]
TESTS = [
    "test_numbers_3_4_5.py",
    "test_numbers_1_2.py",
    "test_public_faults.py",
    "test_keys.py",
    "test_cases.py",
]
WHOLE_GAMES = ["tests/test_referee.py", "tests/golden/test_perft.py"]
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """What a node may be changed to."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        changed = copy.deepcopy(node)
        changed.ops[0] = COMPARISONS[type(node.ops[0])]()
        yield changed
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC:
        changed = copy.deepcopy(node)
        changed.op = ARITHMETIC[type(node.op)]()
        yield changed
    elif isinstance(node, ast.BoolOp):
        changed = copy.deepcopy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield changed
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.If):
        changed = copy.deepcopy(node)
        changed.test = ast.UnaryOp(ast.Not(), node.test)
        yield changed


class Replace(ast.NodeTransformer):
    def __init__(self, number: int, new: ast.AST) -> None:
        self.number, self.new, self.seen = number, new, -1

    def visit(self, node: ast.AST) -> ast.AST:
        self.seen += 1
        if self.seen == self.number:
            return ast.copy_location(self.new, node)
        return self.generic_visit(node)


def order(tree: ast.AST) -> list[ast.AST]:
    """Nodes in the order in which :class:`Replace` meets them."""
    found = [tree]
    for child in ast.iter_child_nodes(tree):
        found += order(child)
    return found


def mutants() -> Iterator[tuple[Path, int, str, str]]:
    """File, line, the changed node as text, and the whole changed source."""
    for path in sorted((ROOT / "sim" / "rules").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inside = {
            id(n)
            for f in ast.walk(tree)
            if isinstance(f, ast.FunctionDef)
            for b in f.body
            for n in ast.walk(b)
        }
        for number, node in enumerate(order(tree)):
            if id(node) not in inside:
                continue
            for new in changes(node):
                changed = ast.fix_missing_locations(Replace(number, new).visit(copy.deepcopy(tree)))
                head = ast.unparse(node).splitlines()[0]
                after = ast.unparse(new).splitlines()[0]
                yield path, node.lineno, f"{head}  ->  {after}", ast.unparse(changed)


def is_found(path: Path, source: str, limit: int) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("sim", "analysis", "tests", "variants", "docs"):
            shutil.copytree(ROOT / name, Path(folder) / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        (Path(folder) / path.relative_to(ROOT)).write_text(source, encoding="utf-8")
        paths = os.pathsep.join([folder, str(Path(folder) / "tests")])
        env = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths, "CHEHUZI_CACHE": f"{folder}/cache"}
        tests = [f"tests/rules/{name}" for name in TESTS] + WHOLE_GAMES
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
        try:
            done = subprocess.run(
                command, cwd=folder, env=env, capture_output=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired:
            return True  # it loops for ever
        return done.returncode != 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=600, help="seconds a mutant")
    chosen = parser.parse_args()
    every = list(mutants())
    rules = ROOT / "sim" / "rules" / "__init__.py"
    if is_found(rules, rules.read_text(encoding="utf-8"), chosen.limit):
        sys.exit("the tests fail, or take too long, without any change")
    sample = random.Random(chosen.seed).sample(every, min(chosen.sample, len(every)))
    found = 0
    for number, (path, line, words, source) in enumerate(sample, start=1):
        good = is_found(path, source, chosen.limit)
        found += good
        print(f"{number:4} {'found' if good else 'SURVIVED'} {path.name}:{line} {words}", flush=True)
    low, high = binomtest(found, len(sample)).proportion_ci(method="wilson")
    print(f"{found} of {len(sample)} found (of {len(every)} mutants): {low:.1%} to {high:.1%}")


if __name__ == "__main__":
    main()
