"""Which keys matter for which metric, all on the same deals, so that the noise of the deals is no effect.

A few settings: the whole factorial design, with main effects, two-way interactions and shares of variance. Many: Morris
or Sobol by SALib (optional extra). And the value of every single rule: each key switched to each of its other values.
"""

from __future__ import annotations

import fnmatch
import io
import itertools
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import special

from analysis import intervals as ci
from analysis.compare import holm
from analysis.compare_words import full_name
from analysis.joint import Features
from analysis.metrics import METRICS, UNITS, Metric, metric
from analysis.tables import format_difference
from analysis.tune_search import guess, play_run
from analysis.tune_spec import shown
from sim.variant import Variant, VariantError, load_variant
from sim.variant_model import FIELDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FloatArray = NDArray[np.float64]

HEADLINES = ("draw_rate", "dealer_advantage", "sd_score", "transfers", "score_mean")
"""Metrics when none is named."""
MOST_CELLS = 256
"""Largest factorial design."""
BATCHES = 20
"""Parts of the deals that are left out in turn for the errors of indices."""
_SESSION_KEYS = ("table.first_dealer", "table.dealer_after_win", "table.dealer_after_draw")


class SensitivityError(ValueError):
    """A question that cannot be answered; the message says what would be right."""


# --- playing -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cells:
    """Values of some variants on the same deals.

    Attributes
    ----------
    values : dict
        Metric key to values, shape (cells,).
    influence : dict
        Metric key to what each deal adds, shape (cells, games); rows sum to zero.
    changed : float array, shape (cells,)
        Share of deals in which any metric's features differ from those of the first cell.
    games : int
    """

    values: Mapping[str, FloatArray]
    influence: Mapping[str, FloatArray]
    changed: FloatArray
    games: int

    def contrast(self, key: str, weights: FloatArray) -> tuple[float, float]:
        """Weighted sum of a metric over cells, and its standard error, paired by deal."""
        per_deal = weights @ self.influence[key]
        return float(weights @ self.values[key]), float(np.sqrt(per_deal @ per_deal) / self.games)

    def without(self, key: str) -> list[FloatArray]:
        """Values with each batch of deals left out in turn."""
        bounds = np.linspace(0, self.games, BATCHES + 1).astype(int)
        found = []
        for begin, end in itertools.pairwise(bounds):
            left = self.games - (end - begin)
            found.append(self.values[key] - self.influence[key][:, begin:end].sum(axis=1) / left)
        return found


def play_cells(
    variants: Sequence[Variant],
    metrics: Sequence[Metric],
    games: int,
    *,
    bots: str = "greedy",
    seed: int = 1,
    jobs: int | None = None,
    quiet: bool = True,
) -> Cells:
    """Play variants on the same deals and keep what effects need.

    Raises
    ------
    SensitivityError
        When a metric does not apply to one of them.
    """
    play = play_run(jobs, quiet, bots)
    labels = [f"c{number:04d}" for number in range(len(variants))]
    features = Features(metrics)
    values: dict[str, list[float]] = {item.key: [] for item in metrics}
    influence: dict[str, list[FloatArray]] = {item.key: [] for item in metrics}
    changed, first = [], None
    with tempfile.TemporaryDirectory(prefix="chehuzi-effects-") as scratch:
        rows = play(dict(zip(labels, variants, strict=True)), games, seed, Path(scratch) / "run")
        for label, variant in zip(labels, variants, strict=True):
            columns = features.columns(rows[label].with_columns(variant=pl.lit(label)).lazy())
            held = np.stack([column.values for column in columns.values()], axis=1)
            first = held if first is None else first
            changed.append(float((held != first).any(axis=1).mean()))
            for item in metrics:
                table = np.stack([column.values for column in features.of(item, columns)], axis=1)
                found = guess(item, table)
                if found.value is None or found.influence is None:
                    raise SensitivityError(f"{item.key} does not apply to {variant.name} with these keys")
                values[item.key].append(found.value)
                influence[item.key].append(found.influence)
    return Cells(
        {key: np.array(held) for key, held in values.items()},
        {key: np.stack(held) for key, held in influence.items()},
        np.array(changed),
        games,
    )


def _metrics(keys: Sequence[str]) -> list[Metric]:
    found = [metric(key) for key in keys or HEADLINES]
    for item in found:
        if item.kind == "quantile":
            raise SensitivityError(f"{item.key} is a quantile; name a rate, mean or spread")
    return found


def _claims(rows: list[dict[str, Any]], level: float) -> None:
    """Fill in intervals that hold for all rows together, and Holm's p-values."""
    alpha = 1 - level
    z = ci.normal_point(1 - alpha / max(1, len(rows)))
    ps = []
    for row in rows:
        row["low"], row["high"] = row["effect"] - z * row["error"], row["effect"] + z * row["error"]
        if row["error"] > 0:
            ps.append(float(2 * special.ndtr(-abs(row["effect"]) / row["error"])))
        else:
            ps.append(1.0 if row["effect"] == 0 else 0.0)
    for row, p in zip(rows, holm(ps), strict=True):
        row["p_holm"] = p
        row["shown"] = p <= alpha


# --- factorial design --------------------------------------------------------------------------------------


def parse_axis(text: str) -> tuple[str, list[str]]:
    """Read ``key=v1,v2,…`` or ``key=10..21``.

    Raises
    ------
    SensitivityError
        When there are not two values.
    """
    key, _, rest = text.partition("=")
    parts = [part.strip() for part in rest.split(",") if part.strip()]
    if len(parts) == 1 and ".." in parts[0]:
        low, _, high = parts[0].partition("..")
        if low.strip().isdigit() and high.strip().isdigit() and int(high) - int(low) <= 1000:
            parts = [str(number) for number in range(int(low), int(high) + 1)]
    if not key.strip() or len(parts) < 2:
        raise SensitivityError(
            f"--vary: {text!r} must be key=value,value,… or key=10..21, two values or more"
        )
    return key.strip(), parts


def sensitivity(
    variant: str | Path | Variant,
    vary: Sequence[str],
    games: int = 20_000,
    *,
    metrics: Sequence[str] = (),
    method: str = "auto",
    samples: int = 16,
    level: float = 0.95,
    overrides: Sequence[str] = (),
    bots: str = "greedy",
    seed: int = 1,
    jobs: int | None = None,
    quiet: bool = True,
) -> dict[str, Any]:
    """Effects of keys on metrics.

    Parameters
    ----------
    variant : str, Path or Variant
    vary : sequence of str
        ``key=v1,v2,…`` or ``key=10..21``.
    games : int
        Deals, the same for every setting.
    metrics : sequence of str
        Keys; by default ``HEADLINES``.
    method : {"auto", "factorial", "morris", "sobol"}
        ``auto``: the factorial design up to 256 settings, else Morris.
    samples : int
        Trajectories of Morris; base samples of Sobol (a power of two).
    level : float
        Of all effects of a factorial design together.
    overrides, bots, seed, jobs, quiet
        As in :func:`sim.run.simulate`.

    Returns
    -------
    dict
        ``effects`` (main effects against the first value, and interactions) and ``indices``.

    Raises
    ------
    SensitivityError
    """
    base = load_variant(variant, overrides)
    axes = [parse_axis(text) for text in vary]
    if not axes:
        raise SensitivityError("--vary is missing, e.g. --vary win.min_huxi=12,15,18")
    if len({key for key, _ in axes}) < len(axes):
        raise SensitivityError("--vary: a key is given twice")
    chosen = _metrics(metrics)
    cells = math.prod(len(values) for _, values in axes)
    if method == "auto":
        method = "factorial" if cells <= MOST_CELLS else "morris"
    if method == "factorial" and cells > MOST_CELLS:
        raise SensitivityError(f"{cells:,} settings are too many for a factorial design; try --method morris")
    document: dict[str, Any] = {
        "variant": base.name,
        "digest": base.digest,
        "method": method,
        "games": games,
        "seed": seed,
        "bots": bots,
        "level": level,
        "axes": dict(axes),
    }
    how: dict[str, Any] = {"bots": bots, "seed": seed, "jobs": jobs, "quiet": quiet}
    if method == "factorial":
        places = list(itertools.product(*(range(len(values)) for _, values in axes)))
        found = play_cells([_at(base, axes, place) for place in places], chosen, games, **how)
        document |= _factorial(axes, np.array(places), found, chosen, level)
    else:
        document |= _sampled(method, base, axes, chosen, games, samples, how)
    return document


def _at(base: Variant, axes: Sequence[tuple[str, list[str]]], place: Sequence[int]) -> Variant:
    return load_variant(base, [f"{key}={values[at]}" for (key, values), at in zip(axes, place, strict=True)])


def _factorial(
    axes: Sequence[tuple[str, list[str]]],
    places: NDArray[np.int64],
    cells: Cells,
    metrics: Sequence[Metric],
    level: float,
) -> dict[str, Any]:
    effects, indices = [], []
    for item in metrics:
        for one, (key, values) in enumerate(axes):
            for at in range(1, len(values)):
                weights = _indicator(places, one, at) - _indicator(places, one, 0)
                effect, error = cells.contrast(item.key, weights)
                effects.append(_effect(item, key, f"{values[0]} → {values[at]}", effect, error))
        for one, two in itertools.combinations(range(len(axes)), 2):
            for i, j in itertools.product(range(1, len(axes[one][1])), range(1, len(axes[two][1]))):
                corners = ((1, i, j), (-1, i, 0), (-1, 0, j), (1, 0, 0))
                weights = np.sum(
                    [sign * _indicator(places, one, a, two, b) for sign, a, b in corners], axis=0
                )
                effect, error = cells.contrast(item.key, weights)
                change = f"{axes[one][1][i]} × {axes[two][1][j]}"
                effects.append(_effect(item, f"{axes[one][0]} × {axes[two][0]}", change, effect, error))
        indices += _shares(axes, places, cells, item)
    _claims(effects, level)
    means = {
        item.key: {
            key: [float(_indicator(places, one, at) @ cells.values[item.key]) for at in range(len(values))]
            for one, (key, values) in enumerate(axes)
        }
        for item in metrics
    }
    return {"effects": effects, "indices": indices, "means": means}


def _indicator(
    places: NDArray[np.int64], one: int, at: int, two: int | None = None, and_at: int = 0
) -> FloatArray:
    """Weights that average over the cells with a level of one axis, or of two."""
    chosen = places[:, one] == at
    if two is not None:
        chosen &= places[:, two] == and_at
    return np.asarray(chosen / chosen.sum(), dtype=np.float64)


def _effect(item: Metric, key: str, change: str, effect: float, error: float) -> dict[str, Any]:
    return {"metric": item.key, "key": key, "change": change, "effect": effect, "error": error}


def _shares(
    axes: Sequence[tuple[str, list[str]]], places: NDArray[np.int64], cells: Cells, item: Metric
) -> list[dict[str, Any]]:
    """Shares of the variance over settings, by term; jackknife over batches of deals against bias."""
    terms: list[tuple[int, ...]] = [
        *((one,) for one in range(len(axes))),
        *itertools.combinations(range(len(axes)), 2),
    ]

    def shares(values: FloatArray) -> FloatArray:
        centred = values - values.mean()
        total = float(centred @ centred)
        if total <= 1e-18 * float(values @ values):
            return np.zeros(len(terms))
        parts: dict[tuple[int, ...], FloatArray] = {}
        for term in terms:
            fitted = np.zeros(len(values))
            for levels in np.unique(places[:, term], axis=0):
                same = (places[:, term] == levels).all(axis=1)
                fitted[same] = centred[same].mean()
            parts[term] = fitted - sum(parts[part,] for part in term if len(term) > 1)
        # a term without effect is what rounding leaves of it
        return np.round([float(part @ part) / total for part in parts.values()], 12)

    whole = shares(cells.values[item.key])
    jack = np.stack([shares(values) for values in cells.without(item.key)])
    centre = BATCHES * whole - (BATCHES - 1) * jack.mean(axis=0)
    error = np.sqrt((BATCHES - 1) / BATCHES * ((jack - jack.mean(axis=0)) ** 2).sum(axis=0))
    half = ci.t_point(0.95, BATCHES - 1) * error
    return [
        {
            "metric": item.key,
            "key": " × ".join(axes[one][0] for one in term),
            "index": "share",
            "value": float(min(1.0, max(0.0, centre[number]))),
            "low": float(min(1.0, max(0.0, centre[number] - half[number]))),
            "high": float(min(1.0, max(0.0, centre[number] + half[number]))),
        }
        for number, term in enumerate(terms)
    ]


# --- Morris and Sobol --------------------------------------------------------------------------------------


def _sampled(
    method: str,
    base: Variant,
    axes: Sequence[tuple[str, list[str]]],
    metrics: Sequence[Metric],
    games: int,
    samples: int,
    how: Mapping[str, Any],
) -> dict[str, Any]:
    try:
        from SALib.analyze import morris as morris_analysis
        from SALib.analyze import sobol as sobol_analysis
        from SALib.sample import morris as morris_sample
        from SALib.sample import sobol as sobol_sample
    except ImportError:
        raise SensitivityError(f"{method} takes SALib: pip install 'chehuzi[tune]'") from None
    problem = {
        "num_vars": len(axes),
        "names": [key for key, _ in axes],
        "bounds": [[0.0, 1.0]] * len(axes),
    }
    seed = int(how["seed"]) % 2**32
    if method == "morris":
        design = morris_sample.sample(problem, samples, num_levels=4, seed=seed)
    else:
        if samples & (samples - 1):
            raise SensitivityError(f"samples: Sobol takes a power of two, not {samples}")
        design = sobol_sample.sample(problem, samples, calc_second_order=False, seed=seed)
    sizes = np.array([len(values) for _, values in axes])
    places = np.minimum((design * sizes).astype(int), sizes - 1)
    settings, back = np.unique(places, axis=0, return_inverse=True)
    back = np.asarray(back).reshape(-1)
    found = play_cells([_at(base, axes, place) for place in settings], metrics, games, **how)

    def analyse(values: FloatArray) -> dict[str, Any]:
        if method == "morris":
            result = morris_analysis.analyze(problem, design, values[back], num_levels=4, seed=seed)
            return {name: (result[name], result.get(f"{name}_conf")) for name in ("mu_star", "mu", "sigma")}
        spread = values[back]
        result = sobol_analysis.analyze(problem, spread, calc_second_order=False, seed=seed)
        return {name: (result[name], result[f"{name}_conf"]) for name in ("S1", "ST")}

    indices = []
    for item in metrics:
        if float(np.ptp(found.values[item.key])) == 0.0:
            continue  # no key does anything
        whole = analyse(found.values[item.key])
        jack = [analyse(values) for values in found.without(item.key)]
        for name, (values, conf) in whole.items():
            parts = np.stack([np.asarray(one[name][0], dtype=np.float64) for one in jack])
            deals = np.sqrt((BATCHES - 1) / BATCHES * ((parts - parts.mean(axis=0)) ** 2).sum(axis=0))
            deals *= ci.t_point(0.95, BATCHES - 1)
            for number, (key, _) in enumerate(axes):
                value = float(values[number])
                chance = 0.0 if conf is None else float(conf[number])
                half = math.hypot(float(deals[number]), chance)
                indices.append(
                    {
                        "metric": item.key,
                        "key": key,
                        "index": name,
                        "value": value,
                        "low": value - half,
                        "high": value + half,
                    }
                )
    return {"effects": [], "indices": indices, "settings": len(settings), "samples": samples}


# --- the value of each rule --------------------------------------------------------------------------------


def other_values(key: str, value: Any) -> list[Any]:
    """The other values of a key: all where they are few, else the nearest useful ones on both sides.

    Parameters
    ----------
    key : str
        Dotted.
    value : object
        The present one.
    """
    choices = get_args(FIELDS[key].annotation)
    if isinstance(value, bool):
        return [not value]
    if choices and all(isinstance(choice, str | int) for choice in choices):
        return [choice for choice in choices if choice != value]
    if key == "deck.wangs":
        return [number for number in range(5) if number != value]
    if key == "cap":
        return [100] if value == 0 else [0, 2 * value]
    if isinstance(value, dict):
        if key == "win.wang_limit.min_fan":
            return [{k: max(1, v // 2) for k, v in value.items()}, {k: 2 * v for k, v in value.items()}]
        return []
    step = 3 if key == "win.min_huxi" else max(1, abs(int(value)) // 4)
    return [value - step, value + step]


def switches(base: Variant, pattern: str = "*") -> list[tuple[str, str, Variant]]:
    """Every single change of a variant: (key, new value, variant).

    Raises
    ------
    SensitivityError
        When no key is meant.
    """
    found = []
    for key, value in base.flat().items():
        if not fnmatch.fnmatch(key, pattern) or key in _SESSION_KEYS or key == "stake":
            continue
        for other in other_values(key, value):
            try:
                variant = load_variant(base, [f"{key}={shown(other)}"])
            except VariantError:
                continue  # outside the key's range, or not with the other keys
            found.append((key, shown(other), variant))
    if not found:
        raise SensitivityError(f"--key: no key is like {pattern!r}, try 'fan.*'")
    return found


def value_of_rules(
    variant: str | Path | Variant,
    games: int = 10_000,
    *,
    pattern: str = "*",
    metrics: Sequence[str] = (),
    level: float = 0.95,
    overrides: Sequence[str] = (),
    bots: str = "greedy",
    seed: int = 1,
    jobs: int | None = None,
    quiet: bool = True,
) -> dict[str, Any]:
    """Paired effect of switching each single key to each of its other values.

    Parameters
    ----------
    variant, games, metrics, overrides, bots, seed, jobs, quiet
        As in :func:`sensitivity`.
    pattern : str
        Keys, with ``*``.
    level : float
        Of all effects together.

    Returns
    -------
    dict
        ``base`` values and ``effects``, one a key, value and metric; ``changed`` is the share of deals that differ.

    Raises
    ------
    SensitivityError
    """
    base = load_variant(variant, overrides)
    chosen = _metrics(metrics)
    changes = switches(base, pattern)
    cells = play_cells(
        [base, *(one for _, _, one in changes)], chosen, games, bots=bots, seed=seed, jobs=jobs, quiet=quiet
    )
    flat = base.flat()
    effects = []
    for number, (key, other, _) in enumerate(changes, start=1):
        weights = np.zeros(len(changes) + 1)
        weights[number], weights[0] = 1.0, -1.0
        for item in chosen:
            effect, error = cells.contrast(item.key, weights)
            row = _effect(item, key, f"{shown(flat[key])} → {other}", effect, error)
            effects.append(row | {"changed": float(cells.changed[number])})
    _claims(effects, level)
    return {
        "variant": base.name,
        "digest": base.digest,
        "games": games,
        "seed": seed,
        "bots": bots,
        "level": level,
        "base": {item.key: float(cells.values[item.key][0]) for item in chosen},
        "effects": effects,
    }


# --- showing -----------------------------------------------------------------------------------------------


def effect_text(row: Mapping[str, Any]) -> str:
    """An effect with its interval, starred where it is shown."""
    item = METRICS[row["metric"]]
    if row["effect"] == 0 and row["error"] == 0:
        return "="
    text = format_difference(row["effect"], row["low"], row["high"], item, signed=True)
    return f"{text}{' *' if row['shown'] else ''}"


_SHARE = {"en": "share of variance", "zh": "方差占比"}


def effect_lines(document: Mapping[str, Any], lang: str = "en") -> list[str]:
    """A table of effects: one line a change, one column a metric."""
    keys = list(dict.fromkeys(row["metric"] for row in document["effects"]))
    changes: dict[tuple[str, str], dict[str, str]] = {}
    for row in document["effects"]:
        line = changes.setdefault((row["key"], row["change"]), {})
        line[row["metric"]] = effect_text(row)
        if "changed" in row:
            line["changed"] = f"{row['changed'] * 100:.1f} %"
    head = [("key", "键")[lang == "zh"], ("change", "改动")[lang == "zh"]]
    columns = [*keys, *(["changed"] if document["effects"] and "changed" in document["effects"][0] else [])]
    names = [
        full_name(METRICS[key], lang) if key in METRICS else ("deals", "不同局")[lang == "zh"]
        for key in columns
    ]
    names = [
        f"{name} (pp)" if key in METRICS and METRICS[key].unit == "share" else name
        for key, name in zip(columns, names, strict=True)
    ]
    rows = [
        [*head, *names],
        *([key, change, *(line[c] for c in columns)] for (key, change), line in changes.items()),
    ]
    found = _aligned(rows) if changes else []
    if document.get("indices"):
        for row in document["indices"]:
            index = _SHARE[lang] if row["index"] == "share" else row["index"]
            text = f"{row['value']:.3g} [{row['low']:.3g}, {row['high']:.3g}]"
            found.append(f"{full_name(METRICS[row['metric']], lang)}  {row['key']}  {index} {text}")
    foot = {
        "en": f"{document['games']:,} deals, the same for all; seed {document['seed']}, bots {document['bots']}; "
        f"intervals hold for all effects together at {document['level'] * 100:g} %; * shown (Holm); = no change at all",
        "zh": f"各方案同样的 {document['games']:,} 局；种子 {document['seed']}，机器人 {document['bots']}；"
        f"区间对全部效应合计 {document['level'] * 100:g} %；* 为已证实（Holm）；= 为毫无变化",
    }[lang]
    return [*found, foot]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    from rich.cells import cell_len

    widths = [max(cell_len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            text + " " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


MOST_BARS = 25
_PLOT = {
    "en": ("{variant}: effect on {name}", "{unit}; filled: shown, hollow: not shown"),
    "zh": ("{variant}：对{name}的影响", "{unit}；实心为已证实，空心为未证实"),
}


def plot_effects(rows: Sequence[Mapping[str, Any]], item: Metric, variant: str, lang: str = "en") -> Figure:
    """Bars of effects on one metric, the largest on top, each with its interval.

    Parameters
    ----------
    rows : sequence of dict
        ``key, change, effect, low, high, shown``, the smallest effect first.
    item : Metric
    variant : str
        For the title.
    lang : {"en", "zh"}
    """
    from analysis.plot_style import INK, SERIES, figure

    factor = 100.0 if item.unit == "share" else 1.0
    with figure(lang, 1.1 + 0.34 * len(rows)) as (made, panels, look):
        axes = panels[0]
        for number, row in enumerate(rows):
            colour = SERIES[0] if row["effect"] >= 0 else SERIES[1]
            axes.barh(
                number,
                row["effect"] * factor,
                height=0.62,
                facecolor=colour if row["shown"] else "none",
                edgecolor=colour,
            )
            axes.plot([row["low"] * factor, row["high"] * factor], [number, number], color=INK, lw=1.2)
        names = [f"{row['key']}\n{row['change']}" for row in rows]
        axes.set_yticks(range(len(rows)), names, fontsize=6.5)
        axes.axvline(0, color=INK, lw=0.8)
        axes.grid(visible=False, axis="y")
        title, unit = _PLOT[look.lang]
        of_unit = (
            ("percentage points", "百分点")[look.lang == "zh"]
            if item.unit == "share"
            else UNITS[item.unit][look.lang]
        )
        axes.set_xlabel(unit.format(unit=of_unit))
        axes.set_title(title.format(variant=variant, name=full_name(item, look.lang)))
    return made


def draw_plots(document: Mapping[str, Any], folder: Path, lang: str = "en") -> list[Path]:
    """Tornado plots of main effects, and of interactions, one file a metric.

    Parameters
    ----------
    document : dict
        From :func:`sensitivity` with a factorial design, or :func:`value_of_rules`.
    folder : Path
    lang : {"en", "zh"}

    Returns
    -------
    list of Path
    """
    from sim.parts import write_atomic

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for key in dict.fromkeys(row["metric"] for row in document["effects"]):
        for kind, crossed in (("tornado", False), ("interactions", True)):
            rows = [r for r in document["effects"] if r["metric"] == key and (" × " in r["key"]) == crossed]
            # keys without any effect take no room, unless that is the finding
            moved = [row for row in rows if row["low"] or row["high"]] or rows
            rows = sorted(moved, key=lambda row: abs(row["effect"]))[-MOST_BARS:]
            if not rows:
                continue
            picture = io.BytesIO()
            plot = plot_effects(rows, METRICS[key], str(document["variant"]), lang)
            plot.savefig(picture, format="png", dpi=140, metadata={"Software": None})
            path = folder / f"{kind}-{key}.png"
            write_atomic(path, picture.getvalue())
            written.append(path)
    return written
