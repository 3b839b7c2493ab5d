"""What holds under which bots: a table, sentences, JSON and a plot of ranks, in English and Chinese."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import polars as pl

from analysis.compare_words import HEADLINES, full_name
from analysis.matrix import Matrix, order_of_metrics, ranks_of, share_of_robust
from analysis.metrics import METRICS, Text
from analysis.tables import WIDTH, make_console, to_csv
from analysis.tournament_words import styled

if TYPE_CHECKING:
    from rich.table import Table

_MARKS = {"higher": "▲", "lower": "▼", "undecided": "·"}

_WORDS: dict[str, Text] = {
    "holds": Text("holds in", "成立"),
    "of": Text("{holds} of {mixes}", "{holds}/{mixes}"),
    "title": Text("{variant} against {base}", "{variant} 对 {base}"),
    "caption": Text(
        "▲ higher, ▼ lower, · undecided under that mix (Holm at {level:g} % over all its metrics), – does not apply; "
        "the same {games:,} deals under every mix, seed {seed}. Mix {reference} is the reference: * marks what it "
        "leaves undecided. {robust} of its {made} claims hold in every mix.",
        "▲ 高、▼ 低、· 未定（各组合内按全部指标作 Holm 校正，{level:g}%），– 不适用；"
        "各组合同样的牌 {games:,} 副，种子 {seed}。"
        "以 {reference} 为准，* 表示它自己未定；它的 {made} 个结论中有 {robust} 个在所有组合下成立。",
    ),
    "higher": Text("{name}: higher under {variant} than under {base}", "{name}：{variant} 比 {base} 高"),
    "lower": Text("{name}: lower under {variant} than under {base}", "{name}：{variant} 比 {base} 低"),
    "in": Text("; holds in {holds} of {mixes} mixes", "；{mixes} 种组合中 {holds} 种成立"),
    "reversed": Text("; reversed with {mixes}", "；{mixes} 下相反"),
    "open": Text("; undecided with {mixes}", "；{mixes} 下未定"),
    "all": Text("; holds in all {mixes} mixes", "；{mixes} 种组合全部成立"),
}


def claim_sentence(row: Mapping[str, Any], lang: str = "en", names: Mapping[str, str] | None = None) -> str:
    """Say in one sentence how far a claim holds.

    Parameters
    ----------
    row : mapping
        A row of claims.
    lang : {"en", "zh"}
        Language.
    names : mapping, optional
        Label to the name to use.
    """
    shown = names or {}
    text = _WORDS[row["direction"]][lang].format(
        name=full_name(METRICS[row["metric"]], lang),
        variant=shown.get(row["variant"], row["variant"]),
        base=shown.get(row["base"], row["base"]),
    )
    if row["holds"] == row["mixes"]:
        return text + _WORDS["all"][lang].format(mixes=row["mixes"])
    text += _WORDS["in"][lang].format(holds=row["holds"], mixes=row["mixes"])
    between = {"en": " · ", "zh": "、"}[lang]
    for word, key in (("reversed", "reversed_in"), ("open", "undecided_in")):
        if row[key]:
            text += _WORDS[word][lang].format(mixes=between.join(row[key]))
    return text


def _chosen(matrix: Matrix, everything: bool) -> list[str]:
    keys = order_of_metrics(matrix.long)
    if everything or len(keys) <= len(HEADLINES):
        return keys
    return [key for key in keys if key in HEADLINES]


def _pair_table(matrix: Matrix, rows: pl.DataFrame, keys: Sequence[str], title: str, lang: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 0, 0, 2),
        pad_edge=False,
        show_edge=False,
        title=title,
        title_justify="left",
        title_style="bold cyan",
    )
    table.add_column("", no_wrap=True)
    for number in range(len(matrix.mixes)):
        table.add_column(str(number + 1), justify="center")
    table.add_column(_WORDS["holds"][lang], no_wrap=True)
    by_key: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows.iter_rows(named=True):
        by_key.setdefault(row["metric"], {})[row["mix"]] = row
    base, variant = rows.select("base", "variant").row(0)
    claims = {
        row["metric"]: row
        for row in matrix.claims.filter((pl.col("base") == base) & (pl.col("variant") == variant)).iter_rows(
            named=True
        )
    }
    for key in keys:
        found = by_key.get(key, {})
        marks = [
            _MARKS[found[mix]["decision"]] if mix in found and found[mix]["difference"] is not None else "–"
            for mix in matrix.mixes
        ]
        last = ""
        if key in claims:
            last = _WORDS["of"][lang].format(**claims[key])
            last += "" if claims[key]["reference"] in ("higher", "lower") else " *"
        table.add_row(full_name(METRICS[key], lang), *marks, last)
    return table


def print_matrix(
    matrix: Matrix, lang: str = "en", everything: bool = False, file: IO[str] | None = None
) -> None:
    """Print one table a pair of variants, the mixes, and what breaks.

    Parameters
    ----------
    matrix : Matrix
    lang : {"en", "zh"}
        Language.
    everything : bool
        All metrics, not the main ones only.
    file : text file, optional
        By default stdout.
    """
    console = make_console(file, WIDTH + 20)
    keys = _chosen(matrix, everything)
    for base, variant in matrix.long.select("base", "variant").unique(maintain_order=True).rows():
        rows = matrix.long.filter((pl.col("base") == base) & (pl.col("variant") == variant))
        title = _WORDS["title"][lang].format(
            base=matrix.names.get(base, base), variant=matrix.names.get(variant, variant)
        )
        console.print(_pair_table(matrix, rows, keys, title, lang))
        console.print()
    console.print("  ".join(f"{number + 1} {mix}" for number, mix in enumerate(matrix.mixes)), markup=False)
    console.print()
    for row in matrix.claims.iter_rows(named=True):
        if row["metric"] in keys:
            console.print(f"• {claim_sentence(row, lang, matrix.names)}", markup=False)
    robust, made = share_of_robust(matrix.claims)
    first = matrix.long.row(0, named=True)
    caption = _WORDS["caption"][lang].format(
        level=first["level"] * 100,
        games=matrix.games,
        seed=first["seed"],
        reference=f"1 ({matrix.mixes[0]})",
        robust=robust,
        made=made,
    )
    console.print()
    console.print(caption, style="dim", markup=False)


def document(matrix: Matrix) -> dict[str, Any]:
    """Everything as one JSON document."""
    claims = []
    columns = ("difference", "joint_low", "joint_high", "p_holm", "decision", "base_value", "value")
    by_claim: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in matrix.long.iter_rows(named=True):
        key = row["base"], row["variant"], row["metric"]
        by_claim.setdefault(key, {})[row["mix"]] = {name: row[name] for name in columns}
    first = matrix.long.row(0, named=True)
    for row in matrix.claims.iter_rows(named=True):
        kept = {
            name: value
            for name, value in row.items()
            if name not in ("level", "seed", "base_digest", "digest")
        }
        kept["verdict"] = {lang: claim_sentence(row, lang, matrix.names) for lang in ("en", "zh")}
        kept["by_mix"] = by_claim[row["base"], row["variant"], row["metric"]]
        claims.append(kept)
    robust, made = share_of_robust(matrix.claims)
    digests: dict[str, str | None] = {}
    for base, digest, variant, other in (
        matrix.long.select("base", "base_digest", "variant", "digest").unique(maintain_order=True).rows()
    ):
        digests |= {base: digest, variant: other}
    return {
        "games": matrix.games,
        "seed": first["seed"],
        "level": first["level"],
        "mixes": list(matrix.mixes),
        "reference": matrix.mixes[0],
        "digests": digests,
        "names": matrix.names,
        "made": made,
        "robust": robust,
        "claims": claims,
        "ranks": {key: ranks_of(matrix.long, matrix.mixes, key) for key in order_of_metrics(matrix.long)},
        "findings": [finding.text.en for finding in matrix.findings],
    }


def write_matrix(matrix: Matrix, folder: Path, lang: str = "en") -> None:
    """Store ``matrix.json``, ``matrix.csv`` (every comparison), ``claims.csv`` and ``ranks.png``.

    Parameters
    ----------
    matrix : Matrix
    folder : Path
        Made where it is not there; files of the same names are replaced, each as a whole.
    lang : {"en", "zh"}
        Of the plot.
    """
    from sim.parts import write_atomic

    folder.mkdir(parents=True, exist_ok=True)
    flat = matrix.claims.with_columns(pl.col("reversed_in", "undecided_in").list.join(" "))
    text = json.dumps(document(matrix), ensure_ascii=False, indent=1, allow_nan=False)
    for name, content in (
        ("matrix.json", text + "\n"),
        ("matrix.csv", to_csv(matrix.long)),
        ("claims.csv", to_csv(flat)),
    ):
        write_atomic(folder / name, content.encode())
    write_atomic(folder / "ranks.png", plot_matrix(matrix, lang))


PANELS = 6
"""Metrics that are drawn."""

_PLOT: dict[str, Text] = {
    "rank": Text("rank, 1 = highest", "名次（1 为最高）"),
    "difference": Text("difference", "差"),
    "title": Text(
        "Ranks of the variants and differences from the first, by bots; {games:,} deals, seed {seed}",
        "各组合下规则的名次与差别；{games:,} 副牌，种子 {seed}",
    ),
}


@styled
def plot_matrix(matrix: Matrix, lang: str) -> bytes:
    """Draw for the main metrics the ranks of the variants by mix, and the differences with intervals; a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    chosen = _chosen(matrix, everything=False)
    claimed = set(matrix.claims["metric"].to_list())
    order = [key for key in HEADLINES if key in chosen] + [key for key in chosen if key not in HEADLINES]
    keys = sorted(order, key=lambda key: key not in claimed)[:PANELS]
    mixes = list(matrix.mixes)
    figure = Figure(figsize=(1.2 + 3.4 * len(keys), 3.4 + 0.26 * len(mixes)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, len(keys), squeeze=False, sharey="row")
    labels = list(matrix.names)
    for column, key in enumerate(keys):
        item = METRICS[key]
        ranks = ranks_of(matrix.long, mixes, key)
        top, bottom = axes[0][column], axes[1][column]
        for number, label in enumerate(labels):
            points = [(mixes.index(mix), len(labels) + 1 - found[label]) for mix, found in ranks.items()]
            top.plot(
                [place for place, _ in points],
                [rank for _, rank in points],
                marker="o",
                linewidth=2,
                color=f"C{number}",
                label=matrix.names[label],
            )
        top.set_title(full_name(item, lang), fontsize="medium")
        top.set_xticks(range(len(mixes)), [str(number + 1) for number in range(len(mixes))])
        top.set_ylim(len(labels) + 0.4, 0.6)
        top.set_yticks(range(1, len(labels) + 1))
        _differences(bottom, matrix, key, labels)
        bottom.set_yticks(
            range(len(mixes)), [f"{mix}  {number + 1}" for number, mix in enumerate(mixes)], fontsize="small"
        )
        bottom.set_ylim(len(mixes) - 0.5, -0.5)
        unit = " (%)" if item.unit == "share" else ""
        bottom.set_xlabel(_PLOT["difference"][lang] + unit)
        for axis in (top, bottom):
            axis.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_ylabel(_PLOT["rank"][lang])
    handles, texts = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=min(4, len(labels)), frameon=False)
    first = matrix.long.row(0, named=True)
    figure.suptitle(_PLOT["title"][lang].format(games=matrix.games, seed=first["seed"]))
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150, metadata={"Software": None})
    return buffer.getvalue()


def _differences(axis: Any, matrix: Matrix, key: str, labels: Sequence[str]) -> None:
    """Differences of one metric by mix; filled where they are significant, hollow where not."""
    mixes = list(matrix.mixes)
    factor = 100.0 if METRICS[key].unit == "share" else 1.0
    axis.axvline(0, color="0.7", linewidth=1)
    rows = matrix.long.filter((pl.col("metric") == key) & pl.col("difference").is_not_null())
    pairs = rows.select("base", "variant").unique(maintain_order=True).rows()
    for row in rows.iter_rows(named=True):
        number = pairs.index((row["base"], row["variant"]))
        place = mixes.index(row["mix"]) + (number - (len(pairs) - 1) / 2) * 0.6 / len(pairs)
        colour = f"C{labels.index(row['variant'])}"
        low, high = row["joint_low"], row["joint_high"]
        if low is not None and high is not None:
            axis.plot([low * factor, high * factor], [place, place], color=colour, linewidth=1.5)
        filled = row["decision"] in ("higher", "lower")
        axis.plot(
            [row["difference"] * factor],
            [place],
            marker="o",
            markersize=5,
            color=colour,
            markerfacecolor=colour if filled else "white",
        )
