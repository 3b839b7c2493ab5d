"""Tune a variant: search settings for targets, judge the short list on fresh deals, write a certificate.

``tune("spec.yaml", "results/my_tuning")`` searches on shared deals, plays the best settings again on deals that
the search never saw, and says with intervals that hold for all claims together whether the targets are met. Everything
is kept in the folder, so that a killed tuning goes on where it was and ends with the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.compare import compare_run
from analysis.honesty import check_run
from analysis.metrics import metric
from analysis.summary import summarise
from analysis.tune_search import (
    ALPHA,
    LEAST_GAMES,
    Candidate,
    Judge,
    Search,
    Store,
    TuneError,
    calm_workers,
    derived_seed,
    dominates,
    play_run,
    search_grid,
    search_optuna,
)
from analysis.tune_spec import Goal, Loaded, load_spec, parse_goal, patch_yaml
from sim.parts import write_atomic
from sim.variant import Variant, differences, load_variant

FORMAT = 1
CERTIFICATE = "certificate.json"
STATE = "tune.json"
SEARCH_SHARE = 0.5
"""Part of the budget for the search; the rest is for fresh deals."""

Told = Callable[[str], None]


# --- fresh deals -------------------------------------------------------------------------------------------


def _number(value: float | None) -> float | None:
    """Ten figures: more would be noise that differs between machines."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.10g}")


@dataclass(frozen=True)
class Trial:
    """What is played on fresh deals.

    Attributes
    ----------
    variants : mapping
        Label to variant; the first is the base.
    metrics : tuple of str
        Keys.
    games, seed : int
    bots : str
    alpha : float
        Of all claims together; half of it for values, half for differences.
    claims : int
        Number of values that are claimed at once.
    """

    variants: Mapping[str, Variant]
    metrics: tuple[str, ...]
    games: int
    seed: int
    bots: str
    alpha: float
    claims: int

    @property
    def value_level(self) -> float:
        """Level of each interval of a value."""
        return 1 - self.alpha / 2 / max(1, self.claims)


def measure(trial: Trial, folder: Path, jobs: int | None, quiet: bool) -> dict[str, Any]:
    """Play a trial and estimate all its metrics, and their differences from the first variant.

    Parameters
    ----------
    trial : Trial
    folder : Path
        Run folder; a run that is there already is finished.
    jobs : int or None
    quiet : bool

    Returns
    -------
    dict
        Label to ``{"values": {metric: …}, "differences": {metric: …}}``; numbers of ten figures.

    Raises
    ------
    TuneError
        When the run's own checks find something wrong.
    """
    from sim.run import simulate

    named = [variant.model_copy(update={"name": label}) for label, variant in trial.variants.items()]
    with calm_workers():
        run = simulate(
            named,
            trial.games,
            bots=trial.bots,
            seed=trial.seed,
            jobs=jobs,
            out=folder,
            resume=True,
            quiet=quiet,
        )
    honesty = check_run(run)
    if not honesty.ok:
        raise TuneError("; ".join(finding.text.en for finding in honesty.findings[:3]))
    summary = summarise(run, level=trial.value_level, metrics=trial.metrics)
    found: dict[str, Any] = {label: {"values": {}, "differences": {}} for label in trial.variants}
    for row in summary.iter_rows(named=True):
        found[row["variant"]]["values"][row["metric"]] = {
            "value": _number(row["value"]),
            "low": _number(row["low"]),
            "high": _number(row["high"]),
            "n": row["n"],
        }
    if len(named) > 1:
        compared = compare_run(run, metrics=list(trial.metrics), level=1 - trial.alpha / 2)
        for row in compared.iter_rows(named=True):
            found[row["variant"]]["differences"][row["metric"]] = {
                "difference": _number(row["difference"]),
                "low": _number(row["joint_low"]),
                "high": _number(row["joint_high"]),
                "decision": row["decision"],
                "correlation": None if row["correlation"] is None else round(row["correlation"], 4),
            }
    return found


def judge_values(values: Mapping[str, Any], goals: Sequence[Goal]) -> dict[str, str]:
    """Verdict of every target: ``met``, ``missed`` or ``open``."""
    return {
        goal.key: "open"
        if values[goal.key]["value"] is None
        else goal.verdict(values[goal.key]["low"], values[goal.key]["high"])
        for goal in goals
    }


def _distance(values: Mapping[str, Any], goals: Sequence[Goal]) -> float:
    return sum(goal.distance(values[goal.key]["value"]) / goal.scale for goal in goals)


# --- the whole ---------------------------------------------------------------------------------------------


def tune(
    spec: str | Path | Loaded,
    out: str | Path,
    *,
    jobs: int | None = None,
    resume: bool = False,
    quiet: bool = False,
    told: Told | None = None,
) -> dict[str, Any]:
    """Search, judge on fresh deals, certify.

    Parameters
    ----------
    spec : path or Loaded
        See :mod:`analysis.tune_spec`.
    out : path
        Folder, new or empty; with ``resume`` the one of a tuning that was stopped.
    jobs : int, optional
        Processes; they change no digit.
    resume : bool
        Go on in ``out``.
    quiet : bool
        No progress.
    told : callable, optional
        Hears of every step.

    Returns
    -------
    dict
        The certificate; ``verdict`` is ``met``, ``open``, ``not_found`` or ``impossible``.

    Raises
    ------
    analysis.tune_spec.SpecError
        A spec that does not hold.
    TuneError
        Too few games, or a folder of something else.
    """
    loaded = spec if isinstance(spec, Loaded) else load_spec(spec)
    folder = Path(out)
    _open_folder(folder, loaded, resume)
    judge = Judge(loaded)
    store = Store(folder / "search", judge.metrics, play_run(jobs, quiet, loaded.spec.bots))
    store.folder.mkdir(exist_ok=True)
    for item in judge.metrics:
        if (
            item.needs_wangs
            and loaded.base.flat()["deck.wangs"] == 0
            and "deck.wangs" not in loaded.spec.keys
        ):
            raise TuneError(f"{item.key} does not apply to {loaded.base.name}, a deck without wangs")

    def tell(name: str, settings: int, games: int) -> None:
        if told is not None:
            told(f"{name}: {settings:,} settings, {games:,} games each")

    searcher = search_grid if loaded.spec.method == "grid" else search_optuna
    search = searcher(loaded, judge, store, int(loaded.spec.budget * SEARCH_SHARE), tell)
    if search.all_out:
        search.left = judge.order(search.candidates)[: loaded.spec.shortlist]
    document = _certify(loaded, judge, search, folder, jobs, quiet, told)
    from analysis.tune_words import write_pages

    _write_json(folder / CERTIFICATE, document)
    winner = document["chosen"] or document["nearest"]
    patch = next(one["patch"] for one in document["shortlist"] if one["number"] == winner)
    write_atomic(folder / "tuned.yaml", patch.encode())
    write_pages(document, folder)
    return document


def _open_folder(folder: Path, loaded: Loaded, resume: bool) -> None:
    from sim._jit import rules_digest

    state = {"format": FORMAT, "spec": loaded.digest, "rules": rules_digest()}
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            if not resume:
                raise TuneError(f"{folder} is not empty; go on with --resume or name another folder")
            try:
                held = json.loads((folder / STATE).read_text())
            except (OSError, ValueError):
                raise TuneError(f"{folder} is no folder of a tuning; name another one") from None
            if held != state:
                what = "rules of the engine" if held.get("spec") == state["spec"] else "spec"
                raise TuneError(f"{folder} was begun with another {what}; name another folder")
            return
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TuneError(f"{folder}: {error.strerror or error}") from None
    write_atomic(folder / STATE, json.dumps(state).encode())
    write_atomic(folder / "spec.yaml", loaded.text.encode())


def _write_json(path: Path, document: Mapping[str, Any]) -> None:
    write_atomic(path, (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode())


def seal(document: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of a certificate without its own ``sha256``."""
    rest = {key: value for key, value in document.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _certify(
    loaded: Loaded,
    judge: Judge,
    search: Search,
    folder: Path,
    jobs: int | None,
    quiet: bool,
    told: Told | None,
) -> dict[str, Any]:
    from sim._jit import rules_digest
    from sim.manifest import tool_version

    spec, base, goals = loaded.spec, loaded.base, judge.goals
    labels = {one.number: "base" if one.variant.digest == base.digest else one.label for one in search.left}
    variants = {"base": base} | {labels[one.number]: one.variant for one in search.left}
    also = len(spec.bots_also)
    games = (spec.budget - search.spent) // (len(variants) + also) // LEAST_GAMES * LEAST_GAMES
    if games < LEAST_GAMES:
        raise TuneError(f"budget: too little is left for fresh deals; {2 * spec.budget:,} games would do")
    claims = len(search.left) * len(spec.metrics) + also * len(goals)
    trial = Trial(
        variants, spec.metrics, games, derived_seed(spec.seed, "fresh"), spec.bots, 1 - spec.level, claims
    )
    if told is not None:
        told(f"fresh deals: {len(variants)} variants, {games:,} games each")
    found = measure(trial, folder / "fresh", jobs, quiet)
    short = [_entry(one, labels[one.number], found, goals, loaded) for one in search.left]
    _mark_front(short, judge)
    chosen, verdict = _decide(short, judge, search)
    nearest = min(short, key=lambda one: (one["distance"], one["number"]))["number"]
    winner = chosen if chosen is not None else nearest
    by_number = {one.number: one for one in search.left}
    robust = _robust(trial, by_number[winner], goals, spec.bots_also, folder, jobs, quiet, told)
    ordered = judge.order(search.candidates)
    document: dict[str, Any] = {
        "format": FORMAT,
        "tool": f"chehuzi {tool_version()}",
        "rules": rules_digest(),
        "spec": {
            "file": loaded.name,
            "sha256": loaded.digest,
            **spec.model_dump(mode="json"),
            "text": loaded.text,
        },
        "verdict": verdict,
        "chosen": chosen,
        "nearest": nearest,
        "base": {
            "name": base.name,
            "title": {lang: base.words(lang) for lang in ("en", "zh")},
            "preset": base.preset,
            "overrides": base.overrides,
            "digest": base.digest,
            "values": found["base"]["values"],
            "verdicts": judge_values(found["base"]["values"], goals),
        },
        "targets": [
            {"metric": goal.key, "low": goal.low, "high": goal.high, "text": goal.text} for goal in goals
        ],
        "objectives": [{"metric": key, "sign": sign} for key, sign in judge.objectives],
        "fresh": {
            "games": games,
            "seed": trial.seed,
            "bots": spec.bots,
            "level": spec.level,
            "claims": claims,
            "value_level": _number(trial.value_level),
            "difference_level": _number(1 - trial.alpha / 2),
        },
        "shortlist": short,
        "robust": robust,
        "search": {
            "method": search.method,
            "complete": search.complete,
            "settings": len(search.candidates),
            "illegal": search.none_legal,
            "alpha": ALPHA,
            "games": search.spent,
            "rounds": [vars(one) for one in search.rounds],
            "tried": [_tried(one) for one in ordered],
            "reach": [_reach(goal, search.candidates) for goal in goals],
        },
        "more_games": _more_games(short, goals, games, winner) if verdict == "open" else None,
        "check": f"chehuzi tune --check {CERTIFICATE}",
    }
    return document | {"sha256": seal(document)}


def _entry(
    one: Candidate, label: str, found: Mapping[str, Any], goals: Sequence[Goal], loaded: Loaded
) -> dict[str, Any]:
    values = found[label]["values"]
    comments = [
        f"{loaded.name}: setting {one.number} of a tuning with chehuzi",
        f"rules {one.variant.digest}",
    ]
    return {
        "number": one.number,
        "label": label,
        "setting": one.setting,
        "changed": one.changed,
        "digest": one.variant.digest,
        "overrides": one.variant.overrides,
        "values": values,
        "differences": found[label]["differences"],
        "verdicts": judge_values(values, goals),
        "distance": _number(_distance(values, goals)),
        "searched": {key: _number(held[0]) for key, held in one.values.items()},
        "patch": patch_yaml(one.variant, comments),
        "words": {lang: differences(loaded.base, one.variant, lang) for lang in ("en", "zh")},
    }


def _aims(entry: Mapping[str, Any], judge: Judge) -> tuple[float, ...]:
    return tuple(
        math.inf if entry["values"][key]["value"] is None else sign * entry["values"][key]["value"]
        for key, sign in judge.objectives
    )


def _mark_front(short: list[dict[str, Any]], judge: Judge) -> None:
    """Mark which settings no other one beats in every target and objective, by the fresh values."""
    points = [
        (
            *(
                math.inf
                if one["values"][goal.key]["value"] is None
                else goal.distance(one["values"][goal.key]["value"])
                for goal in judge.goals
            ),
            *_aims(one, judge),
        )
        for one in short
    ]
    for number, one in enumerate(short):
        one["front"] = not any(dominates(point, points[number]) for point in points)


def _decide(short: Sequence[Mapping[str, Any]], judge: Judge, search: Search) -> tuple[int | None, str]:
    """Number of the chosen setting, and the verdict."""
    met = [one for one in short if all(verdict == "met" for verdict in one["verdicts"].values())]
    if judge.goals and not met:
        if any("missed" not in one["verdicts"].values() for one in short):
            return None, "open"
        shown = search.out_but([one["number"] for one in short])  # these were shown to miss on fresh deals
        return None, "impossible" if shown else "not_found"

    def key(one: Mapping[str, Any]) -> tuple[Any, ...]:
        centre = sum(max(-1.0, goal.off_centre(one["values"][goal.key]["value"])) for goal in judge.goals)
        return (*_aims(one, judge)[:1], one["changed"], centre, one["number"])

    best = min(met, key=key)
    if not judge.goals:
        wanted = {key: "lower" if sign > 0 else "higher" for key, sign in judge.objectives}
        if any(best["differences"].get(key, {}).get("decision") != side for key, side in wanted.items()):
            return None, "open"
    return int(best["number"]), "met"


def _robust(
    trial: Trial,
    one: Candidate,
    goals: Sequence[Goal],
    mixes: Sequence[str],
    folder: Path,
    jobs: int | None,
    quiet: bool,
    told: Told | None,
) -> list[dict[str, Any]]:
    found = []
    for number, bots in enumerate(mixes, start=1):
        if told is not None:
            told(f"the same under {bots}: {trial.games:,} games")
        again = Trial(
            {one.label: one.variant}, trial.metrics, trial.games, trial.seed, bots, trial.alpha, trial.claims
        )
        values = measure(again, folder / f"bots-{number}", jobs, quiet)[one.label]["values"]
        found.append({"bots": bots, "values": values, "verdicts": judge_values(values, goals)})
    return found


def _tried(one: Candidate) -> dict[str, Any]:
    reason = {key: _number(value) if isinstance(value, float) else value for key, value in one.reason.items()}
    return {
        "number": one.number,
        "setting": one.setting,
        "digest": one.variant.digest,
        "games": one.games,
        "fate": "short" if one.fate == "in" else one.fate,
        "reason": reason,
        "values": {key: [_number(part) for part in held] for key, held in one.values.items()},
    }


def _reach(goal: Goal, candidates: Sequence[Candidate]) -> dict[str, Any]:
    """How far the settings reach for one target alone."""
    values = [one.values[goal.key][0] for one in candidates if goal.key in one.values]
    known = [value for value in values if value is not None]
    return {
        "metric": goal.key,
        "lowest": _number(min(known, default=None)),
        "highest": _number(max(known, default=None)),
        "within": sum(goal.distance(value) == 0 for value in known),
        "of": len(known),
    }


def _more_games(
    short: Sequence[Mapping[str, Any]], goals: Sequence[Goal], games: int, number: int
) -> int | None:
    """Games a variant after which the targets that are open would be decided, if the values stay as they are."""
    one = next(entry for entry in short if entry["number"] == number)
    needed = games
    for goal in goals:
        held = one["values"][goal.key]
        if one["verdicts"][goal.key] != "open" or held["value"] is None:
            continue
        ends = [abs(held["value"] - end) for end in (goal.low, goal.high) if end is not None]
        if held["low"] is None or held["high"] is None or min(ends) == 0:
            return None
        half = (held["high"] - held["low"]) / 2
        needed = max(needed, math.ceil(1.1 * games * (half / min(ends)) ** 2 / 1000) * 1000)
    return needed if needed > games else None


# --- checking a certificate --------------------------------------------------------------------------------


def read_certificate(path: str | Path) -> dict[str, Any]:
    """Read a certificate.

    Raises
    ------
    TuneError
        When it is none.
    """
    try:
        if Path(path).stat().st_size > 50_000_000:
            raise TuneError(f"{path}: too large for a certificate")
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise TuneError(f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise TuneError(f"{path} is no certificate: not a JSON document") from None
    needed = {"format", "sha256", "spec", "shortlist", "fresh", "base", "targets", "rules", "robust"}
    if not isinstance(document, dict) or not needed <= set(document):
        raise TuneError(f"{path} is no certificate of chehuzi tune")
    if document["format"] != FORMAT:
        raise TuneError(f"{path}: format {document['format']!r}; this version reads {FORMAT}")
    return document


@dataclass(frozen=True)
class Checked:
    """What checking a certificate found.

    Attributes
    ----------
    ok : bool
    findings : list of (str, str)
        What is wrong, in English and Chinese.
    notes : list of (str, str)
        What holds.
    """

    ok: bool
    findings: list[tuple[str, str]]
    notes: list[tuple[str, str]]


def check(
    path: str | Path, *, seed: int | None = None, jobs: int | None = None, quiet: bool = False
) -> Checked:
    """Check a certificate: its hashes, and every number of it by playing the same games again.

    Parameters
    ----------
    path : path
        ``certificate.json``.
    seed : int, optional
        Other deals instead: whether the verdicts hold there too.
    jobs : int, optional
    quiet : bool

    Returns
    -------
    Checked

    Raises
    ------
    TuneError
        For a file that is no certificate.
    """
    from sim._jit import rules_digest

    document = read_certificate(path)
    findings: list[tuple[str, str]] = []
    notes: list[tuple[str, str]] = []
    if seal(document) != document["sha256"]:
        findings.append(
            ("the certificate was changed: its SHA-256 does not fit", "证书内容已被改动：SHA-256 不符")
        )
    try:
        trial, goals = _trial_of(document)
    except (KeyError, TypeError, ValueError) as error:
        findings.append((f"the rules cannot be built again: {error}", f"规则无法重建：{error}"))
        return Checked(False, findings, notes)
    same_code = document["rules"] == rules_digest()
    if not same_code:
        notes.append(
            (
                "the engine is another one than that of the certificate, so numbers may differ",
                "当前引擎与出具证书时不同，数字可能有出入",
            )
        )
    with tempfile.TemporaryDirectory(prefix="chehuzi-check-") as scratch:
        if seed is None:
            findings += _check_numbers(document, trial, Path(scratch), jobs, quiet)
            if not findings:
                total = trial.games * (len(trial.variants) + len(document["robust"]))
                notes.append(
                    (
                        f"{total:,} games played again: every number is the same",
                        f"已重打 {total:,} 局：数字全部一致",
                    )
                )
        else:
            other = Trial(**{**vars(trial), "seed": seed})
            fresh = measure(other, Path(scratch) / "fresh", jobs, quiet)
            for entry in document["shortlist"]:
                verdicts = judge_values(fresh[entry["label"]]["values"], goals)
                turned = [
                    key
                    for key, verdict in verdicts.items()
                    if {verdict, entry["verdicts"][key]} == {"met", "missed"}
                ]
                text = ", ".join(f"{key} {verdict}" for key, verdict in verdicts.items())
                line = (
                    f"setting {entry['number']} on deals of seed {seed}: {text}",
                    f"方案 {entry['number']}，种子 {seed} 的牌局：{text}",
                )
                (findings if turned else notes).append(line)
    return Checked(not findings, findings, notes)


def _trial_of(document: Mapping[str, Any]) -> tuple[Trial, list[Goal]]:
    base = document["base"]
    variants: dict[str, Variant] = {}
    for label, preset, held in (
        ("base", base["preset"], base),
        *((one["label"], base["preset"], one) for one in document["shortlist"]),
    ):
        variant = load_variant(str(preset), dict(held["overrides"]))
        if variant.digest != held["digest"]:
            raise ValueError(f"{label}: hash {held['digest'][:8]} is not that of its keys")
        variants.setdefault(label, variant)
    goals = [parse_goal(one["metric"], one["text"]) for one in document["targets"]]
    keys = [goal.key for goal in goals] + [one["metric"] for one in document["objectives"]]
    fresh = document["fresh"]
    trial = Trial(
        variants,
        tuple(dict.fromkeys(metric(key).key for key in keys)),
        int(fresh["games"]),
        int(fresh["seed"]),
        str(fresh["bots"]),
        1 - float(fresh["level"]),
        int(fresh["claims"]),
    )
    return trial, goals


def _check_numbers(
    document: Mapping[str, Any], trial: Trial, scratch: Path, jobs: int | None, quiet: bool
) -> list[tuple[str, str]]:
    found = measure(trial, scratch / "fresh", jobs, quiet)
    pairs = [("base", document["base"]["values"], found["base"]["values"])]
    for one in document["shortlist"]:
        again = found[one["label"]]
        pairs.append((f"setting {one['number']}", one["values"], again["values"]))
        pairs.append((f"setting {one['number']}, differences", one["differences"], again["differences"]))
    winner = document["chosen"] or document["nearest"]
    entry = next(one for one in document["shortlist"] if one["number"] == winner)
    for number, mix in enumerate(document["robust"]):
        label = f"s{winner:04d}"
        again = measure(
            Trial(
                **{**vars(trial), "variants": {label: trial.variants[entry["label"]]}, "bots": mix["bots"]}
            ),
            scratch / f"bots-{number}",
            jobs,
            quiet,
        )
        pairs.append((f"bots {mix['bots']}", mix["values"], again[label]["values"]))
    wrong = []
    for what, stored, again in pairs:
        for key in stored:
            if stored[key] != again.get(key):
                wrong.append(
                    (
                        f"{what}: {key} is {_brief(again.get(key))}, the certificate says {_brief(stored[key])}",
                        f"{what}：{key} 为 {_brief(again.get(key))}，证书写作 {_brief(stored[key])}",
                    )
                )
    return wrong


def _brief(held: Mapping[str, Any] | None) -> str:
    if held is None:
        return "missing"
    value = held.get("value", held.get("difference"))
    return f"{value} [{held['low']}, {held['high']}]"
