"""Events as short expressions over the columns of game rows, such as ``fan >= 64 and not zimo``.

An expression is parsed by Python's own parser into a tree, of which a few kinds of nodes are translated to
polars; nothing is evaluated as Python, and anything else is refused.
"""

from __future__ import annotations

import ast
import difflib
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from analysis.metrics import FAN_TEXT
from sim.rows import BY_NAMES, COLUMN_TYPES, FAN_NAMES

MAX_LENGTH = 1000

WANGS_OF = {
    "wang_diao": 1,
    "wang_diao_wang": 2,
    "wang_chuang": 2,
    "wang_chuang_wang": 3,
    "wang_zha": 3,
    "wang_zha_wang": 4,
}
"""Wangs in the winner's hand, the winning card included, that rules 4.5 to 4.10 ask for."""

EXTRA: dict[str, pl.Expr] = {
    "draw_game": pl.col("winner").is_null(),
    "won": pl.col("winner").is_not_null(),
}
"""Names beside the columns."""

_ALIASES = {text.zh: name for name, text in FAN_TEXT.items()} | {"荒庄": "draw_game", "胡": "won"}

_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
}
_FLIPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}

_EXAMPLE = 'e.g. wang_zha_wang, "fan >= 64", "red and not zimo", "wangs_dealt_0 + wangs_dealt_1 == 4"'


class EventError(ValueError):
    """An expression that makes no event; the message says where and what would be right."""


@dataclass(frozen=True)
class Event:
    """An event of a game.

    Attributes
    ----------
    text : str
        The expression.
    expr : Expr
        Boolean over the columns of game rows, never null.
    wangs_needed : int
        The event cannot happen unless one player holds at least so many wangs.
    special : str or None
        The wang special without which it cannot happen; None where there is no single one.
    """

    text: str
    expr: pl.Expr
    wangs_needed: int
    special: str | None


@dataclass(frozen=True)
class _Bool:
    expr: pl.Expr
    wangs: int = 0
    specials: frozenset[str] | None = None  # the event needs one of them; None: none is needed


@dataclass(frozen=True)
class _Value:
    expr: pl.Expr
    name: str | None = None
    number: int | None = None
    text: str | None = None


_Node: TypeAlias = _Bool | _Value


def parse_event(text: str) -> Event:
    """Read an event.

    Parameters
    ----------
    text : str
        Column names of game rows (fan names in Chinese too), ``draw_game``, ``won``, whole numbers,
        ``'own'``, ``'other'``, ``'deal'``, ``None``; comparisons, ``in``, ``and``, ``or``, ``not``,
        ``+ - * // %``, ``min``, ``max``, ``abs`` and parentheses. A comparison with an empty field (the fan
        of a draw game) is false; ``winner == None`` asks for an empty one.

    Raises
    ------
    EventError
        With what would be right.
    """
    if len(text) > MAX_LENGTH:
        raise EventError(f"event: at most {MAX_LENGTH} characters, not {len(text)}")
    if not text.strip():
        raise EventError(f"event: nothing is asked for; {_EXAMPLE}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        found = _boolean(tree.body)
    except SyntaxError as error:
        raise EventError(
            f"event: {text!r} cannot be read at position {error.offset or len(text)}; {_EXAMPLE}"
        ) from None
    except (RecursionError, MemoryError):
        raise EventError("event: nested too deeply") from None
    special = None
    if found.specials:
        special = min(found.specials, key=lambda name: (WANGS_OF[name], FAN_NAMES.index(name)))
    return Event(text.strip(), found.expr.fill_null(False), found.wangs, special)


def _refuse(node: ast.AST, why: str) -> EventError:
    at = getattr(node, "col_offset", None)
    place = "" if at is None else f" at position {at + 1}"
    return EventError(f"event: {why}{place}; {_EXAMPLE}")


def _boolean(node: ast.expr) -> _Bool:
    found = _walk(node)
    if isinstance(found, _Bool):
        return found
    what = f"{found.name!r} alone is no yes or no" if found.name else "this is no yes or no"
    raise _refuse(node, f"{what}: compare it with something")


def _value(node: ast.expr) -> _Value:
    found = _walk(node)
    if isinstance(found, _Value):
        return found
    return _Value(found.expr.cast(pl.Int64))  # a boolean counts 0 or 1


def _numeric(node: ast.expr) -> _Value:
    found = _value(node)
    if found.text is not None or found.name == "by":
        raise _refuse(node, "a number is wanted")
    return found


def _walk(node: ast.expr) -> _Node:
    if isinstance(node, ast.BoolOp):
        return _both([_boolean(item) for item in node.values], isinstance(node.op, ast.And))
    if isinstance(node, ast.UnaryOp):
        if isinstance(node.op, ast.Not):
            return _Bool(~_boolean(node.operand).expr)
        if isinstance(node.op, ast.USub):
            inner = _numeric(node.operand)
            return _Value(-inner.expr, number=None if inner.number is None else -inner.number)
        raise _refuse(node, "write 'not' for the opposite")
    if isinstance(node, ast.Compare):
        parts = []
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            parts.append(_comparison(left, operator, right))
            left = right
        return parts[0] if len(parts) == 1 else _both(parts, True)
    if isinstance(node, ast.BinOp):
        method = _ARITHMETIC.get(type(node.op))
        if method is None:
            raise _refuse(node, "of arithmetic there are + - * // %, and of logic 'and', 'or', 'not'")
        first, second = _numeric(node.left), _numeric(node.right)
        if method in ("floordiv", "mod") and second.number == 0:
            raise _refuse(node, "division by 0")
        return _Value(getattr(first.expr, method)(second.expr))
    if isinstance(node, ast.Call):
        return _call(node)
    if isinstance(node, ast.Name):
        return _name(node)
    if isinstance(node, ast.Constant):
        return _constant(node)
    raise _refuse(node, "this is not part of the language of events")


def _both(parts: list[_Bool], all_of: bool) -> _Bool:
    """Join parts, and what each needs: ``and`` needs all of it, ``or`` only what every part needs."""
    expr = parts[0].expr
    for part in parts[1:]:
        expr = (expr & part.expr) if all_of else (expr | part.expr)
    needs = [part.specials for part in parts if part.specials is not None]
    if all_of:
        least = max(part.wangs for part in parts)
        # of several needs the one that is hardest to meet leads furthest
        specials = max(needs, key=lambda names: min(WANGS_OF[name] for name in names), default=None)
    else:
        least = min(part.wangs for part in parts)
        specials = frozenset().union(*needs) if len(needs) == len(parts) else None
    return _Bool(expr, least, specials)


def _call(node: ast.Call) -> _Value:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name not in ("min", "max", "abs") or node.keywords or not node.args:
        raise _refuse(node, "of functions there are min, max and abs")
    found = [_numeric(item) for item in node.args]
    values = [value.expr for value in found]
    if name == "abs":
        if len(values) != 1:
            raise _refuse(node, "abs takes one number")
        return _Value(values[0].abs())
    # the greatest or least of some wang counts is itself one that a player holds
    counts = found[0].name if all(_is_wang_count(value.name) for value in found) else None
    return _Value(pl.max_horizontal(values) if name == "max" else pl.min_horizontal(values), name=counts)


def _name(node: ast.Name) -> _Node:
    name = _ALIASES.get(node.id, node.id)
    if name in EXTRA:
        return _Bool(EXTRA[name])
    if name not in COLUMN_TYPES:
        known = [*COLUMN_TYPES, *EXTRA, *_ALIASES]
        near = difflib.get_close_matches(name, known, n=3) or [item for item in known if name in item][:3]
        hint = f"did you mean {' or '.join(near)}?" if near else f"columns are {', '.join(COLUMN_TYPES)}"
        raise EventError(f"event: no column {node.id!r}; {hint}")
    column = pl.col(name)
    if COLUMN_TYPES[name] == "Boolean":
        needs = frozenset([name]) if name in WANGS_OF else None
        return _Bool(column.fill_null(False), WANGS_OF.get(name, 0), needs)
    if COLUMN_TYPES[name] == "Enum":
        return _Value(column.cast(pl.String), name=name)
    return _Value(column.cast(pl.Int64), name=name)


def _constant(node: ast.Constant) -> _Node:
    if isinstance(node.value, bool):
        return _Bool(pl.lit(node.value))
    if isinstance(node.value, int):
        if abs(node.value) >= 1 << 62:
            raise _refuse(node, "the number is too large")
        return _Value(pl.lit(node.value, dtype=pl.Int64), number=node.value)
    if isinstance(node.value, float):
        return _Value(pl.lit(node.value))
    if isinstance(node.value, str) and node.value in BY_NAMES:
        return _Value(pl.lit(node.value), text=node.value)
    raise _refuse(node, f"{node.value!r} is no number; of words there are {', '.join(BY_NAMES)}")


def _comparison(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> _Bool:
    if isinstance(operator, ast.In | ast.NotIn):
        if not isinstance(right, ast.Tuple | ast.List | ast.Set):
            raise _refuse(right, "after 'in' a list is wanted, as in fan in (16, 32)")
        equal = [_comparison(left, ast.Eq(), item) for item in right.elts]
        if not equal:
            raise _refuse(right, "the list is empty")
        found = equal[0] if len(equal) == 1 else _both(equal, False)
        return found if isinstance(operator, ast.In) else _Bool(~found.expr)
    method = _COMPARE.get(type(operator))
    is_none = [isinstance(side, ast.Constant) and side.value is None for side in (left, right)]
    if any(is_none):
        if all(is_none) or not isinstance(operator, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
            raise _refuse(left, "None can only be asked for as in winner == None")
        empty = _value(right if is_none[0] else left).expr.is_null()
        return _Bool(empty if isinstance(operator, ast.Eq | ast.Is) else ~empty)
    if method is None:
        raise _refuse(left, "of comparisons there are == != < <= > >= and in")
    first, second = _value(left), _value(right)
    texts = [side.text is not None or side.name == "by" for side in (first, second)]
    if any(texts) and (not all(texts) or method not in ("eq", "ne")):
        raise _refuse(left, f"the column 'by' is compared with == or != to {', '.join(BY_NAMES)}")
    expr = getattr(first.expr, method)(second.expr).fill_null(False)
    return _Bool(expr, _wangs_of_comparison(first, method, second))


def _is_wang_count(name: str | None) -> bool:
    return name is not None and (name == "wangs_win" or name.startswith(("wangs_final_", "wangs_dealt_")))


def _wangs_of_comparison(first: _Value, method: str, second: _Value) -> int:
    """Wangs that one player must hold for a comparison of a wang count with a number to be true."""
    if first.number is not None:
        first, method, second = second, _FLIPPED[method], first
    name = first.name or ""
    if second.number is None or not (
        name == "wangs_win" or name.startswith(("wangs_final_", "wangs_dealt_"))
    ):
        return 0
    least = {"ge": second.number, "eq": second.number, "gt": second.number + 1}.get(method, 0)
    return max(0, least)
