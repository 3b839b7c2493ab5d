"""What to tune, as a YAML file: the variant, the keys with their values, the targets, and how many games.

Read by the same strict reader as variants (:mod:`sim.variant_yaml`), so that every fault has its line.
"""

from __future__ import annotations

import difflib
import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError

from analysis.metrics import METRICS, MetricError, metric
from sim.variant import KEYS, PRESETS, Variant, VariantError, load_variant
from sim.variant_yaml import Entry, Layer, Problem, parse, read_text

Value = int | bool | str | dict[str, int]
Setting = dict[str, Value]

ALIASES = {"volatility": "sd_score"}
"""Other names of metrics."""

MOST_VALUES = 1000
"""Values of one key."""
MOST_CHECKED = 50
"""A longer range is checked at its ends only."""
MOST_CELLS = 10**15
GRID_CELLS = 256
"""Most settings that are all tried; with more of them optuna chooses."""

_LISTS = ("bots_also", "minimise", "maximise")
_RANGE = re.compile(r"\s*([-+]?[0-9]{1,9})\s*\.\.\s*([-+]?[0-9]{1,9})(?:\s+step\s+([0-9]{1,9}))?\s*")
_NUMBER = r"([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*(%?)"
_BAND = re.compile(rf"{_NUMBER}\s*(?:±|\+/?-)\s*{_NUMBER}")
_BETWEEN = re.compile(rf"{_NUMBER}\s*\.\.\s*{_NUMBER}")
_BOUND = re.compile(rf"(<=?|>=?|≤|≥|below|above)\s*{_NUMBER}")
_FOLDED = re.compile(r"^\s*[\w.]+\s*:\s*>=?\s*[-+]?[0-9.]+\s*%?\s*(#.*)?$")


class SpecError(VariantError):
    """A spec that does not hold; one line a problem, each with its place."""


# --- targets -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Goal:
    """Where a metric shall lie.

    Attributes
    ----------
    key : str
        Metric.
    low, high : float or None
        Ends, in the metric's unit (shares between 0 and 1); None: open.
    text : str
        As it was written.
    """

    key: str
    low: float | None
    high: float | None
    text: str

    @property
    def scale(self) -> float:
        """Size in which distances of different targets are compared: half the band, or the bound."""
        if self.low is not None and self.high is not None:
            return (self.high - self.low) / 2
        bound = abs(self.low if self.low is not None else self.high or 0.0)
        return bound or (0.01 if metric(self.key).unit == "share" else 1.0)

    def distance(self, value: float | None) -> float:
        """How far a value lies outside, in the metric's unit; 0 within, inf for none."""
        if value is None:
            return math.inf
        below = 0.0 if self.low is None else self.low - value
        above = 0.0 if self.high is None else value - self.high
        return max(0.0, below, above)

    def off_centre(self, value: float | None) -> float:
        """Distance from the middle of a band in its half-widths; from a bound, negative inside."""
        if value is None:
            return math.inf
        if self.low is not None and self.high is not None:
            return abs(value - (self.low + self.high) / 2) / self.scale
        return ((value - self.high) if self.high is not None else ((self.low or 0.0) - value)) / self.scale

    def verdict(self, low: float | None, high: float | None) -> Literal["met", "missed", "open"]:
        """Judge an interval: wholly within, wholly outside, or neither."""
        lowest, highest = METRICS[self.key].lowest, METRICS[self.key].highest
        if METRICS[self.key].unit == "share":
            lowest, highest = 0.0 if lowest is None else lowest, 1.0 if highest is None else highest
        low, high = lowest if low is None else low, highest if high is None else high
        over = self.low is None or (low is not None and low >= self.low)
        under = self.high is None or (high is not None and high <= self.high)
        if over and under:
            return "met"
        if self.low is not None and high is not None and high < self.low:
            return "missed"
        if self.high is not None and low is not None and low > self.high:
            return "missed"
        return "open"


def parse_goal(name: str, text: object) -> Goal:
    """Read a target: ``0.05 ± 0.005``, ``4% .. 6%``, ``< 0.5``, ``above 0.3``.

    Raises
    ------
    MetricError
        For an unknown metric, or what cannot be read or reached; the message says what would be right.
    """
    item = metric(ALIASES.get(name, name))
    shown = str(text).strip()
    example = "0.05 ± 0.005 or < 0.06" if item.unit == "share" else "0 ± 1 or < 0.5"

    def number(digits: str, percent: str) -> float:
        if percent and item.unit != "share":
            raise MetricError(f"{name} is no share; write the number without %")
        value = float(digits) / (100 if percent else 1)
        if not math.isfinite(value):
            raise MetricError(f"{digits} is too large")
        return value

    low: float | None = None
    high: float | None = None
    if match := _BAND.fullmatch(shown):
        middle, half = number(match[1], match[2]), number(match[3], match[4])
        if half <= 0:
            raise MetricError(f"{shown!r}: the half-width after ± is positive")
        # decimal ends as they were meant: 0.05 ± 0.005 is 0.045 to 0.055
        low, high = round(middle - half, 12), round(middle + half, 12)
    elif match := _BETWEEN.fullmatch(shown):
        low, high = number(match[1], match[2]), number(match[3], match[4])
        if low >= high:
            raise MetricError(f"{shown!r}: the lower end comes first")
    elif match := _BOUND.fullmatch(shown):
        bound = number(match[2], match[3])
        low, high = (None, bound) if match[1] in ("<", "<=", "≤", "below") else (bound, None)
    else:
        raise MetricError(f"{shown[:60]!r} is no target; write e.g. {example}")
    if item.unit == "share":
        for end in (low, high):
            if end is not None and not -1 < end < 1:
                raise MetricError(f"{name} is a share between 0 and 1, so {shown!r} says nothing; {example}?")
    if (item.lowest is not None or item.unit == "share") and (
        high is not None and high <= (item.lowest or 0.0)
    ):
        raise MetricError(f"{name} is never below {item.lowest or 0:g}, so {shown!r} cannot be met")
    return Goal(item.key, low, high, shown)


# --- the spec ----------------------------------------------------------------------------------------------


class Spec(BaseModel):
    """A tuning: what is varied, what is wanted, and how many games it may take."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, arbitrary_types_allowed=True)

    base: StrictStr
    set: dict[str, Value] = Field(default_factory=dict)
    keys: dict[str, tuple[Value, ...]] = Field(min_length=1)
    targets: dict[str, StrictStr] = Field(default_factory=dict)
    minimise: tuple[StrictStr, ...] = ()
    maximise: tuple[StrictStr, ...] = ()
    budget: Annotated[StrictInt, Field(ge=10_000, le=10**11)] = 1_000_000
    shortlist: Annotated[StrictInt, Field(ge=1, le=20)] = 4
    search: Literal["auto", "grid", "optuna"] = "auto"
    trials: Annotated[StrictInt, Field(ge=8, le=5000)] = 96
    bots: StrictStr = "greedy"
    bots_also: tuple[StrictStr, ...] = ()
    seed: Annotated[StrictInt, Field(ge=0, le=2**63)] = 1
    level: Annotated[float, Field(ge=0.5, le=0.9999)] = 0.95

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The targets."""
        return tuple(parse_goal(name, text) for name, text in self.targets.items())

    @property
    def objectives(self) -> tuple[tuple[str, int], ...]:
        """Metrics to be made small (sign 1) or large (sign −1)."""
        return tuple(
            (ALIASES.get(name, name), sign)
            for names, sign in ((self.minimise, 1), (self.maximise, -1))
            for name in names
        )

    @property
    def metrics(self) -> tuple[str, ...]:
        """Keys of all metrics that the spec speaks of, targets first."""
        return tuple(
            dict.fromkeys([*(goal.key for goal in self.goals), *(key for key, _ in self.objectives)])
        )

    @property
    def cells(self) -> int:
        """Number of settings in the grid."""
        return math.prod(len(values) for values in self.keys.values())

    @property
    def method(self) -> Literal["grid", "optuna"]:
        """How to search: the whole grid where it is small."""
        if self.search != "auto":
            return self.search
        return "grid" if self.cells <= GRID_CELLS else "optuna"

    def settings(self) -> Iterator[Setting]:
        """Every setting of the grid, the last key varying fastest."""
        for cell in itertools.product(*self.keys.values()):
            yield dict(zip(self.keys, cell, strict=True))


@dataclass(frozen=True)
class Loaded:
    """A spec with its base, and the hash of both.

    Attributes
    ----------
    spec : Spec
    base : Variant
        With ``set`` applied.
    text : str
        The file.
    name : str
        Of the file, without folder.
    """

    spec: Spec
    base: Variant
    text: str
    name: str

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of what is asked: equal for equal specs, whatever their comments."""
        document = {"spec": self.spec.model_dump(mode="json"), "base": self.base.digest}
        return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()

    def variant(self, setting: Mapping[str, Value]) -> Variant:
        """Apply a setting to the base.

        Raises
        ------
        VariantError
            Where the values do not go together.
        """
        return load_variant(self.base, overrides(setting))


def overrides(setting: Mapping[str, Value]) -> list[str]:
    """``key=value`` texts of a setting."""
    return [f"{key}={shown(value)}" for key, value in setting.items()]


def shown(value: object) -> str:
    """A value as YAML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {item}" for key, item in value.items()) + "}"
    return str(value)


def load_spec(path: str | Path) -> Loaded:
    """Read a spec.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Loaded

    Raises
    ------
    SpecError
        With every problem and its line.

    Examples
    --------
    >>> load_spec("docs/examples/tune_draw_rate.yaml").spec.cells  # doctest: +SKIP
    36
    """
    path = Path(path)
    text, fault = read_text(path, str(path))
    if fault:
        raise SpecError([fault])
    return read_spec(text, str(path), path.parent)


def read_spec(text: str, file: str, folder: Path) -> Loaded:
    """Read a spec from text; ``folder`` is where a ``base`` file lies. Errors as in :func:`load_spec`."""
    for number, line in enumerate(text.splitlines(), start=1):
        if _FOLDED.match(line):
            name, _, rest = line.partition(":")
            message = f'{name.strip()}: YAML reads > as folded text; write it in quotes: "{rest.strip()}"'
            raise SpecError([Problem(file, number, name.strip(), message)])
    layer = parse(text, file, lists=True)
    reader = _Reader(layer, folder)
    return Loaded(*reader.read(), text, Path(file).name)


class _Reader:
    """From entries to a spec, collecting faults."""

    def __init__(self, layer: Layer, folder: Path) -> None:
        self.layer = layer
        self.folder = folder
        self.problems = list(layer.problems)
        self.document: dict[str, Any] = {}
        self.where: dict[str, int | None] = dict(layer.lines)

    def wrong(self, entry: Entry | None, key: str, message: str) -> None:
        line = self.where.get(key) if entry is None else entry.line
        self.problems.append(Problem(self.layer.file, line, key, message))

    def read(self) -> tuple[Spec, Variant]:
        for dotted, entry in self.layer.entries.items():
            head, dot, rest = dotted.partition(".")
            if head in ("set", "keys", "targets"):
                if not dot:
                    self.wrong(entry, dotted, f"{head}: is a section; its entries go below it")
                else:
                    self.document.setdefault(head, {})[rest] = entry
            elif dotted in Spec.model_fields:
                self.document[dotted] = entry
            else:
                near = difflib.get_close_matches(dotted, [*Spec.model_fields], n=1)
                hint = f", did you mean {near[0]}?" if near else f"; known are {', '.join(Spec.model_fields)}"
                self.wrong(entry, dotted, f"unknown entry {dotted[:80]}{hint}")
        for needed, example in (("base", "base: four_wang"), ("keys", "keys: {win.min_huxi: [12, 15, 18]}")):
            if needed not in self.document and needed not in self.layer.lines:
                self.problems.append(
                    Problem(self.layer.file, None, needed, f"{needed} is missing, e.g. {example}")
                )
        base = self.base()
        values: dict[str, Any] = {"keys": self.knobs(base), "set": self.fixed()}
        values["targets"] = self.goals()
        for name in _LISTS:
            if name in self.document:
                values[name] = self.names(name)
        for name, entry in self.document.items():
            if name not in values:
                values[name] = entry.value
        self.check(values)
        if self.problems:
            raise SpecError(self.problems)
        try:
            spec = Spec.model_validate(values)
        except ValidationError as error:
            for item in error.errors(include_url=False):
                name = str(item["loc"][0])
                self.wrong(None, name, f"{name}: {_words(item)}")
            raise SpecError(self.problems) from None
        assert base is not None
        return spec, base

    def base(self) -> Variant | None:
        entry = self.document.get("base")
        if not isinstance(entry, Entry):
            return None
        if not isinstance(entry.value, str):
            self.wrong(entry, "base", "base: must name a preset or a YAML file")
            return None
        name = entry.value
        ref: str | Path = name
        if name.rpartition("+")[0] not in PRESETS and name not in (*PRESETS, "base"):
            if (self.folder / name).is_file():
                ref = self.folder / name
        fixed = {
            key: item.value
            for key, item in self.document.get("set", {}).items()
            if not isinstance(item.value, list)
        }
        try:
            return load_variant(ref, [f"{key}={shown(value)}" for key, value in fixed.items()])
        except VariantError as error:
            for problem in error.problems:
                held = self.document.get("set", {}).get(problem.key)
                if problem.line is None:
                    self.wrong(held or entry, problem.key, problem.message)
                else:
                    self.problems.append(problem)
            return None

    def fixed(self) -> dict[str, Any]:
        return {key: entry.value for key, entry in self.document.get("set", {}).items()}

    def knobs(self, base: Variant | None) -> dict[str, tuple[Value, ...]]:
        found: dict[str, tuple[Value, ...]] = {}
        for key, entry in self.document.get("keys", {}).items():
            if key in self.document.get("set", {}):
                self.wrong(entry, key, f"{key} is under set too; it cannot be fixed and varied")
            items = self.values(key, entry)
            fine: list[Value] = []
            for number, item in enumerate(items):
                inner = len(items) > MOST_CHECKED and 0 < number < len(items) - 1  # of a range
                if item.value in fine and type(item.value) is type(fine[fine.index(item.value)]):
                    self.wrong(item, key, f"{key}: {shown(item.value)} is given twice")
                elif inner or (base is not None and self.is_legal(base, key, item)):
                    fine.append(item.value)  # type: ignore[arg-type]
            found[key] = tuple(fine)
        if math.prod(len(values) or 1 for values in found.values()) > MOST_CELLS:
            self.problems.append(
                Problem(
                    self.layer.file, self.where.get("keys"), "keys", "keys: far too many settings; use steps"
                )
            )
        return found

    def values(self, key: str, entry: Entry) -> list[Entry]:
        example = f"{key}: [12, 15, 18] or {key}: 10..21"
        if isinstance(entry.value, list):
            if len(entry.value) < 1:
                self.wrong(entry, key, f"{key}: the list is empty, e.g. {example}")
            return list(entry.value)
        match = _RANGE.fullmatch(entry.value) if isinstance(entry.value, str) else None
        if match is None:
            self.wrong(entry, key, f"{key}: give the values as a list or a range, e.g. {example}")
            return []
        first, last, step = int(match[1]), int(match[2]), int(match[3] or 1)
        if first >= last or step < 1:
            self.wrong(entry, key, f"{key}: a range goes upwards in steps of 1 or more, e.g. 10..21 step 3")
            return []
        numbers = range(first, last + 1, step)
        if len(numbers) > MOST_VALUES:
            self.wrong(
                entry, key, f"{key}: {len(numbers):,} values are too many; add a step, e.g. 0..1000 step 10"
            )
            return []
        return [Entry(number, entry.file, entry.line) for number in numbers]

    def is_legal(self, base: Variant, key: str, item: Entry) -> bool:
        if key not in KEYS and not key.startswith("win.wang_limit.min_fan."):
            near = difflib.get_close_matches(key[:200], KEYS, n=1)
            hint = f", did you mean {near[0]}?" if near else ""
            if not any(problem.key == key for problem in self.problems):
                self.wrong(item, key, f"unknown key {key[:80]}{hint}")
            return False
        try:
            load_variant(base, [f"{key}={shown(item.value)}"])
        except VariantError as error:
            problem = error.problems[0]
            if problem.key.startswith(key) or key.startswith(problem.key or "?"):
                self.wrong(item, key, problem.message)
                return False
        return True  # may still not go with another key: that setting is left out

    def goals(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, entry in self.document.get("targets", {}).items():
            try:
                goal = parse_goal(name, shown(entry.value))
            except MetricError as error:
                text = str(error)
                self.wrong(entry, name, text if name in text else f"{name}: {text}")
                continue
            if goal.key in (ALIASES.get(other, other) for other in found):
                self.wrong(entry, name, f"{name}: {goal.key} has a target already")
            found[name] = goal.text
        return found

    def names(self, name: str) -> tuple[str, ...]:
        entry = self.document[name]
        items = entry.value if isinstance(entry.value, list) else [entry]
        if not isinstance(entry.value, list) and isinstance(entry.value, str) and name != "bots_also":
            items = [Entry(part.strip(), entry.file, entry.line) for part in entry.value.split(",")]
        for item in items:
            if name == "bots_also":
                self.bots(item, name)
                continue
            try:
                found = metric(ALIASES.get(str(item.value), str(item.value)))
            except MetricError as error:
                self.wrong(item, name, f"{name}: {error}")
                continue
            if found.kind == "quantile":
                self.wrong(item, name, f"{name}: {found.key} is a quantile; name a rate, mean or spread")
        return tuple(str(item.value) for item in items)

    def bots(self, item: Entry, name: str) -> None:
        from sim.bots import BotError
        from sim.players import parse_compiled

        try:
            parse_compiled(str(item.value))
        except BotError as error:
            self.wrong(item, name, f"{name}: {error}")

    def check(self, values: dict[str, Any]) -> None:
        """Check what concerns several entries."""
        if isinstance(self.document.get("bots"), Entry):
            self.bots(self.document["bots"], "bots")
        if isinstance(values.get("level"), int):
            values["level"] = float(values["level"])
        aims = [*values.get("minimise", ()), *values.get("maximise", ())]
        if len({ALIASES.get(name, name) for name in aims}) < len(aims):
            self.wrong(None, "minimise", "minimise and maximise: a metric is named twice")
        if not values["targets"] and not aims and not self.problems:
            self.problems.append(
                Problem(
                    self.layer.file,
                    None,
                    "targets",
                    "nothing is wanted; add targets: {draw_rate: 0.05 ± 0.005}",
                )
            )


def _words(error: Any) -> str:
    kind, given = error["type"], error.get("input")
    context = error.get("ctx") or {}
    if kind in ("greater_than_equal", "less_than_equal"):
        word, bound = ("at least", context["ge"]) if "ge" in context else ("at most", context["le"])
        return f"must be {word} {bound:,}, not {given!r}"
    if kind == "literal_error":
        return f"must be {context['expected'].replace(chr(39), '')}, not {given!r}"
    plain = {
        "int_type": "must be a whole number",
        "float_type": "must be a number",
        "string_type": "must be a text",
    }
    return f"{plain.get(kind, error['msg'])}, not {str(given)[:60]!r}"


def changes(base: Variant, variant: Variant) -> Setting:
    """Keys in which a variant differs from its base, with the new values."""
    before = base.flat()
    return {key: value for key, value in variant.flat().items() if value != before[key]}  # type: ignore[misc]


def patch_yaml(variant: Variant, comments: Sequence[str] = ()) -> str:
    """A variant as the few lines by which it differs from its preset.

    Parameters
    ----------
    variant : Variant
    comments : sequence of str
        Lines for the head.

    Returns
    -------
    str
        Reads back as the same rules.
    """
    lines = [f"# {line}" for line in comments]
    lines.append(f"extends: {variant.preset}")
    sections: list[str] = []
    for dotted in KEYS:
        if dotted not in variant.overrides:
            continue
        *above, last = dotted.split(".")
        for depth, section in enumerate(above):
            if sections[: depth + 1] != above[: depth + 1]:
                sections = above[: depth + 1]
                lines.append(f"{'  ' * depth}{section}:")
        sections = above
        lines.append(f"{'  ' * len(above)}{last}: {shown(variant.overrides[dotted])}")
    return "\n".join(lines) + "\n"
