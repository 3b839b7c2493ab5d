"""Variants: a preset or a YAML file, what it extends, what is overridden, and what it says in words.

``load_variant("four_wang", ["win.wang_limit.mode=by_wang"])`` is a frozen, checked set of all keys. A file holds
only its differences from what it ``extends``.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sim.variant_model import KEYS, SECTIONS, Rules, describe, rule_of
from sim.variant_yaml import Entry, Layer, Problem, parse, parse_scalar, read_text

__all__ = [
    "KEYS",
    "PRESETS",
    "Problem",
    "Variant",
    "VariantError",
    "describe",
    "differences",
    "json_schema",
    "list_presets",
    "load_variant",
    "origins",
    "rule_of",
]

PRESETS = ("two_wang", "three_wang", "four_wang")
_BUILT_IN = ("base", *PRESETS)
_FREE_TEXT = ("title.en", "title.zh", "about.en", "about.zh")
_MODES = ("none", "by_fan", "by_wang")
MAX_CHAIN = 20


class VariantError(ValueError):
    """A variant that does not hold; the text is one line a problem, each with its place."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = sorted(problems, key=lambda problem: (problem.file, problem.line or 0))
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[VariantError], tuple[list[Problem]]]:
        """Pickle by the problems."""
        return VariantError, (self.problems,)


class Variant(Rules):
    """All keys of one set of rules, and where it comes from."""

    name: str
    """Name of the preset or of the file, without ending."""
    preset: str
    """The packaged variant that it comes from, directly or through other files."""
    overrides: dict[str, Any]
    """Every dotted key that differs from that preset."""

    def flat(self) -> dict[str, object]:
        """Every dotted key of the rules with its value, in the order of the rules."""
        return {dotted: _at(self, dotted) for dotted in KEYS}

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of all keys: equal for equal rules, whatever their name or file."""
        return _digest(self.flat())

    def words(self, lang: str = "en") -> str:
        """Its title, or its name where it has none."""
        return getattr(self.title, lang) if self.title else self.name

    def to_yaml(self) -> str:
        """All keys as YAML, without ``extends``; reads back as the same rules."""
        lines: list[str] = []
        for text in ("title", "about"):
            value = getattr(self, text)
            if value:
                lines += [f"{text}:", f"  en: {json.dumps(value.en)}"]
                lines += [f"  zh: {json.dumps(value.zh, ensure_ascii=False)}"]
        open_sections: list[str] = []
        for dotted, value in self.flat().items():
            *sections, last = dotted.split(".")
            for depth, section in enumerate(sections):
                if open_sections[: depth + 1] != sections[: depth + 1]:
                    open_sections = sections[: depth + 1]
                    lines.append(f"{'  ' * depth}{section}:")
            open_sections = sections
            lines.append(f"{'  ' * len(sections)}{last}: {_yaml(value)}")
        return "\n".join(lines) + "\n"


def _yaml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {item}" for key, item in value.items()) + "}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _at(model: Any, dotted: str) -> object:
    for part in dotted.split("."):
        model = getattr(model, "pass_" if part == "pass" else part)
    return dict(model) if isinstance(model, dict) else model


def _digest(flat: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(flat, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


# --- where files are ---------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def preset_folder() -> Path:
    """Folder of the packaged variants: ``variants/`` of a checkout, ``sim/presets/`` of an installed wheel."""
    here = Path(__file__).resolve().parent
    checkout = here.parent / "variants"
    return checkout if (checkout / "base.yaml").is_file() else here / "presets"


def _shown(path: Path) -> str:
    if path.parent == preset_folder():
        return f"variants/{path.name}"
    return _printable(str(path))


def _printable(text: str, limit: int = 200) -> str:
    text = "".join(char if char.isprintable() else "?" for char in text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _locate(ref: str | Path, folder: Path | None, where: tuple[str, int | None]) -> Path:
    """Path of a variant that is named on the command line or in an ``extends``."""
    text = str(ref)
    if text in _BUILT_IN:
        return preset_folder() / f"{text}.yaml"
    is_path = isinstance(ref, Path) or "/" in text or "\\" in text or text.endswith((".yaml", ".yml"))
    if "\0" in text or len(text) > 4000:
        raise VariantError([Problem(where[0], where[1], "extends", "is no file name")])
    path = Path(text)
    if folder is not None and not path.is_absolute():
        path = folder / path
    try:
        if is_path or path.is_file():
            return path
    except OSError:
        pass
    close = difflib.get_close_matches(text, _BUILT_IN, n=1)
    hint = f", did you mean {close[0]}?" if close else ""
    message = (
        f"{_printable(text)!r} is no variant{hint} (presets are {', '.join(PRESETS)}; or give a YAML file)"
    )
    raise VariantError([Problem(where[0], where[1], "extends", message)])


# --- layers ------------------------------------------------------------------------------------------


def _layers(ref: str | Path) -> tuple[list[Layer], str, str]:
    """Layers from the root of the chain to the file itself, the name, and the nearest packaged variant."""
    path = _locate(ref, None, ("variant", None))
    name = path.stem
    chain: list[Layer] = []
    visited: list[Path] = []
    preset = ""
    while True:
        shown = _shown(path)
        real = path.resolve()
        text, fault = read_text(path, shown)
        if fault:
            if not chain:
                raise VariantError([fault])
            chain[-1].problems.append(fault)
            break
        layer = _parsed(text, shown)
        chain.append(layer)
        visited.append(real)
        if not preset and real.parent == preset_folder().resolve() and real.stem in PRESETS:
            preset = real.stem
        parent = layer.entries.pop("extends", None)
        line = layer.lines.pop("extends", None)
        if parent is None:
            if line is None:
                return chain[::-1], name, preset or "two_wang"  # what base holds
            break
        following = _parent(layer, parent.value, path, line, visited)
        if following is None:
            break
        path = following
    # The way up is lost; the other faults of these files are told all the same, as if they extended the base.
    base = preset_folder() / "base.yaml"
    return [_parsed(read_text(base, _shown(base))[0], _shown(base)), *chain[::-1]], name, preset or "two_wang"


def _parent(
    layer: Layer, named: object, path: Path, line: int | None, visited: Sequence[Path]
) -> Path | None:
    """The file that an ``extends`` names; None when that cannot be, and the layer says why."""
    message = "must name a preset or a YAML file"
    if isinstance(named, str):
        try:
            found = _locate(named, path.parent, (layer.file, line))
            there, circle = found.is_file(), found.resolve() in visited or len(visited) >= MAX_CHAIN
        except VariantError as error:
            layer.problems += error.problems
            return None
        except OSError as error:
            message = f"{_printable(named)!r}: {error.strerror}"
        else:
            if there and not circle:
                return found
            way = " → ".join([*(item.name for item in visited), found.name])
            message = (
                f"goes in a circle: {_printable(way)}"
                if there
                else f"no file {_printable(named)!r} beside it; give a preset or an existing file"
            )
    layer.problems.append(Problem(layer.file, line, "extends", f"extends: {message}"))
    return None


@lru_cache(maxsize=32)
def _parse_once(text: str, shown: str) -> Layer:
    return parse(text, shown)


def _parsed(text: str, shown: str) -> Layer:
    """A layer of its own; the same text is read once, since a search loads its base for every setting."""
    layer = _parse_once(text, shown)
    return Layer(layer.file, dict(layer.entries), dict(layer.lines), list(layer.problems))


def _problems(layers: Sequence[Layer]) -> list[Problem]:
    return [problem for layer in layers for problem in layer.problems]


def _suggest(dotted: str) -> str:
    """``, did you mean …?`` for an unknown key."""
    known = [*KEYS, *SECTIONS]
    close = difflib.get_close_matches(dotted[:200], known, n=1, cutoff=0.6)
    if not close:
        last = dotted.rpartition(".")[2][:200]
        by_last = {name.rpartition(".")[2]: name for name in reversed(KEYS)}
        nearest = difflib.get_close_matches(last, by_last, n=1, cutoff=0.7)
        close = [by_last[nearest[0]]] if nearest else []
    return f", did you mean {close[0]}?" if close else ""


def _unknown(dotted: str) -> str:
    return f"unknown key {_printable(dotted, 80)}{_suggest(dotted)}"


def _override_layer(overrides: Sequence[str] | Mapping[str, object]) -> Layer:
    """``key=value`` texts, or a mapping of dotted keys to values, as the last layer."""
    layer = Layer("--set")

    def wrong(key: str, message: str) -> None:
        layer.problems.append(Problem("--set", None, key, message))

    pairs: list[tuple[str, object]] = []
    if isinstance(overrides, Mapping):
        pairs = [(str(key), value) for key, value in overrides.items()]
    else:
        for text in overrides:
            dotted, equals, value_text = text.partition("=")
            if not equals:
                wrong("", f"{_printable(text, 80)!r} must be key=value, e.g. win.min_huxi=18")
                continue
            value, fault = parse_scalar(value_text)
            if fault:
                wrong(dotted, f"{_printable(dotted.strip(), 80)}: {fault}")
            else:
                pairs.append((dotted.strip(), value))
    for dotted, value in pairs:
        if isinstance(value, Mapping):
            for part, item in value.items():
                layer.entries[f"{dotted}.{part}"] = Entry(item, "--set", None)
        else:
            layer.entries[dotted] = Entry(value, "--set", None)
    return layer


def _merge(layers: Sequence[Layer]) -> tuple[dict[str, Entry], list[Problem]]:
    """Entries of all layers, later ones over earlier ones; unknown keys and sections without keys are faults."""
    problems = _problems(layers)
    merged: dict[str, Entry] = {}
    for layer in layers:
        for dotted, entry in layer.entries.items():
            if dotted in ("table.seats", "xing.singles") and type(entry.value) is not int:
                problems.append(Problem(entry.file, entry.line, dotted, f"{dotted}: must be a whole number"))
            elif dotted in KEYS or dotted in _FREE_TEXT or _is_min_fan(dotted):
                merged[dotted] = entry
            elif dotted in SECTIONS or dotted in ("title", "about"):
                message = f"{dotted}: is a section; its keys go below it, not a value"
                problems.append(Problem(entry.file, entry.line, dotted, message))
            else:
                problems.append(Problem(entry.file, entry.line, dotted, _unknown(dotted)))
    return merged, problems


def _is_min_fan(dotted: str) -> bool:
    return dotted.startswith("win.wang_limit.min_fan.")


def _nest(entries: Mapping[str, Entry]) -> dict[Any, Any]:
    tree: dict[Any, Any] = {}
    for dotted, entry in entries.items():
        *sections, last = dotted.split(".")
        node = tree
        for section in sections:
            node = node.setdefault(section, {})
            if not isinstance(node, dict):
                break
        else:
            is_count = _is_min_fan(dotted) and last.isdigit() and len(last) < 3
            node[int(last) if is_count else last] = entry.value
    return tree


_TYPES = {
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "bool_type": "must be true or false",
    "string_type": "must be a text",
    "missing": "is missing",
}


def _explain(error: Any, entries: Mapping[str, Entry]) -> Problem:
    """A problem of the model, with the place of the value that causes it."""
    loc = [str(part) for part in error["loc"] if part != "[key]"]
    dotted = ".".join(loc)
    entry = entries.get(dotted) or next(
        (item for name, item in entries.items() if loc and name.startswith(f"{dotted}.")), None
    )
    given = error.get("input")
    context = error.get("ctx") or {}
    kind = error["type"]
    if kind == "value_error":
        message = str(context.get("error", error["msg"]))
    elif kind == "literal_error":
        choices = str(context.get("expected", "")).replace("'", "").replace(" or ", ", ")
        close = difflib.get_close_matches(str(given)[:80], choices.split(", "), n=1)
        hint = f", did you mean {close[0]}?" if close else ""
        message = f"must be one of {choices}, not {_printable(repr(given), 60)}{hint}"
    elif kind in ("greater_than_equal", "less_than_equal"):
        word, bound = ("at least", context.get("ge")) if "ge" in context else ("at most", context.get("le"))
        message = f"must be {word} {bound}, not {_printable(repr(given), 40)}"
    elif kind in _TYPES:
        message = f"{_TYPES[kind]}, not {_printable(repr(given), 60)}" if kind != "missing" else _TYPES[kind]
    else:
        message = f"{error['msg']} (not {_printable(repr(given), 60)})"
    file, line = (entry.file, entry.line) if entry else ("variant", None)
    return Problem(file, line, dotted, f"{dotted}: {message}" if dotted else message)


def _build(entries: Mapping[str, Entry], problems: list[Problem]) -> Rules:
    """Validate merged entries; raise all problems together."""
    try:
        rules = Rules.model_validate(_nest(entries))
    except ValidationError as error:
        found = [_explain(item, entries) for item in error.errors(include_url=False)]
        raise VariantError([*problems, *found]) from None
    if problems:
        raise VariantError(problems)
    return rules


def _split(ref: str | Path) -> tuple[str | Path, list[str]]:
    """``four_wang+by_wang`` as the reference and an override of the limit."""
    if isinstance(ref, str) and "+" in ref:
        name, _, mode = ref.rpartition("+")
        if name in _BUILT_IN or mode in _MODES:
            if mode not in _MODES:
                message = f"{_printable(ref)!r}: after + must come none, by_fan or by_wang"
                raise VariantError([Problem("variant", None, "win.wang_limit.mode", message)])
            return name, [f"win.wang_limit.mode={mode}"]
    return ref, []


def _resolve(
    ref: str | Path, overrides: Sequence[str] | Mapping[str, object]
) -> tuple[dict[str, Entry], list[Problem], str, str]:
    plain, extra = _split(ref)
    layers, name, preset = _layers(plain)
    if extra:
        layers = [*layers, _override_layer(extra)]
        name = f"{name}+{extra[0].rpartition('=')[2]}"
    if overrides:
        layers = [*layers, _override_layer(overrides)]
    entries, problems = _merge(layers)
    return entries, problems, name, preset


def _plain(value: object) -> object:
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else value


def load_variant(ref: str | Path | Variant, overrides: Sequence[str] | Mapping[str, object] = ()) -> Variant:
    """Load a variant.

    Parameters
    ----------
    ref : str, Path or Variant
        A preset (``two_wang``, ``three_wang``, ``four_wang``, ``base``), the path of a YAML file, either with
        ``+none``, ``+by_fan`` or ``+by_wang`` for the wang limit; or a variant, to be overridden.
    overrides : sequence of str, or mapping
        ``key=value`` texts, or dotted keys to values.

    Returns
    -------
    Variant

    Raises
    ------
    VariantError
        With all problems of all files at once.
    """
    if isinstance(ref, Variant):
        changed: dict[str, object] = {**ref.overrides}
        layer = _override_layer(overrides)
        if layer.problems:
            raise VariantError(layer.problems)
        given = {dotted: entry.value for dotted, entry in layer.entries.items()}
        loaded = load_variant(ref.preset, {**changed, **given})
        return loaded.model_copy(update={"name": ref.name, "title": ref.title, "about": ref.about})
    entries, problems, name, preset = _resolve(ref, overrides)
    rules = _build(entries, problems)
    fields: dict[str, Any] = {field: getattr(rules, field) for field in Rules.model_fields}
    variant = Variant.model_construct(**fields, name=name, preset=preset, overrides={})
    before = _preset_flat(preset)
    changes = {dotted: _plain(value) for dotted, value in variant.flat().items() if value != before[dotted]}
    return variant.model_copy(update={"overrides": changes})


@lru_cache(maxsize=8)
def _preset_flat(preset: str) -> dict[str, object]:
    entries, problems, _, _ = _resolve(preset, ())
    rules = _build(entries, problems)
    return {dotted: _at(rules, dotted) for dotted in KEYS}


def origins(ref: str | Path, overrides: Sequence[str] | Mapping[str, object] = ()) -> dict[str, str]:
    """Where each key's value comes from: ``variants/base.yaml:12``, ``--set``, or ``default``."""
    entries, problems, _, _ = _resolve(ref, overrides)
    _build(entries, problems)
    found: dict[str, str] = {}
    for dotted in KEYS:
        entry = entries.get(dotted) or next(
            (item for name, item in reversed(entries.items()) if name.startswith(f"{dotted}.")), None
        )
        if entry is None:
            found[dotted] = "default"
        else:
            found[dotted] = entry.file if entry.line is None else f"{entry.file}:{entry.line}"
    return found


def differences(before: Variant, after: Variant, lang: str = "en") -> list[str]:
    """What differs, in words for players, one sentence a key: the new rule and, in brackets, the old one."""
    old, new = before.flat(), after.flat()
    sentences = []
    for dotted in KEYS:
        if old[dotted] != new[dotted]:
            now, was = describe(dotted, new[dotted], lang), describe(dotted, old[dotted], lang)
            sentences.append(f"{now}（原：{was.rstrip('。')}）" if lang == "zh" else f"{now} (Was: {was})")
    return sentences


def list_presets() -> list[tuple[str, dict[str, str]]]:
    """Presets with their titles, in both languages."""
    found = []
    for name in PRESETS:
        variant = load_variant(name)
        found.append((name, {lang: variant.words(lang) for lang in ("en", "zh")}))
    return found


def json_schema() -> dict[str, Any]:
    """JSON Schema of variant files: every key optional, and ``extends``."""
    schema = Rules.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Chehuzi variant"
    extends = {"type": "string", "description": "A preset, or the path of a YAML file beside this one."}
    schema["properties"] = {"extends": extends, **schema["properties"]}
    for part in (schema, *schema["$defs"].values()):
        part["additionalProperties"] = False
        if part.get("title") == "Sizes":
            part.pop("required", None)
    limits = schema["$defs"]["WangLimit"]["properties"]["min_fan"]
    for noise in ("propertyNames", "additionalProperties"):
        value = limits.pop(noise, None)
        if noise == "additionalProperties" and value:
            limits["properties"] = {str(wangs): value for wangs in (1, 2, 3, 4)}
    limits["additionalProperties"] = False
    return schema
