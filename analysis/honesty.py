"""Checks of a run that no interval shows: whole, unaltered, homogeneous, and as many deals as games.

A finding is told, never averaged away. Methods: docs/statistics.md, "Honesty checks".
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import special

from analysis.load import prepare
from analysis.metrics import Text
from sim.manifest import PartRecord
from sim.store import Run, open_run

BEYOND = 1e-6
"""A chunk with a smaller p-value is reported."""

FALSE_ALARM = 1e-3
"""Bound on the chance of any false alarm in a run; it lowers ``BEYOND`` in runs of more than 1000 tests."""

LEAST_EXPECTED = 20
"""Categories are pooled until a chunk expects as many games in each."""

DEALS_CHECKED = 100_000
"""Deals that are made again and compared, spread over the whole run."""

_BLOCK = 1000
_PURE_DEALS = 2_000

Decks = Callable[[int, int], NDArray[np.int8]]
"""``(first, count)`` to the shuffled decks of these games, one row each."""


@dataclass(frozen=True)
class Finding:
    """Something wrong with a run.

    Attributes
    ----------
    check : str
        ``target``, ``damage``, ``chunk``, ``alike``, ``repeat``, ``deals`` or ``dealt``.
    variant : str or None
        Label.
    text : Text
        One sentence.
    """

    check: str
    variant: str | None
    text: Text


@dataclass(frozen=True)
class Honesty:
    """What was checked, and what was found."""

    findings: tuple[Finding, ...]
    checked: tuple[Text, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


# --- χ² over chunks ----------------------------------------------------------------------------------------


def pool(totals: NDArray[np.int64], share: float, least: float = LEAST_EXPECTED) -> NDArray[np.int64]:
    """Pool neighbouring categories until the smallest chunk expects ``least`` in each.

    Parameters
    ----------
    totals : int array, shape (k,)
        Games a category, in order.
    share : float
        Part of all games that the smallest chunk has.

    Returns
    -------
    int array, shape (k,)
        Group of each category, ascending from 0.
    """
    groups = np.zeros(len(totals), dtype=np.int64)
    group, held = 0, 0.0
    for number, total in enumerate(totals):
        groups[number] = group
        held += total * share
        if held >= least and float(totals[number + 1 :].sum()) * share >= least:
            group, held = group + 1, 0.0
    return groups


@dataclass(frozen=True)
class ChunkTest:
    """Each chunk against all the others.

    Attributes
    ----------
    squares : float array, shape (chunks,)
        χ² of each chunk.
    freedom : int
        Categories less one.
    p : float array, shape (chunks,)
    p_all : float
        All chunks together.
    p_alike : float
        Chance of being as alike as this, or more.
    """

    squares: NDArray[np.float64]
    freedom: int
    p: NDArray[np.float64]
    p_all: float
    p_alike: float


def chunk_test(table: NDArray[np.int64]) -> ChunkTest | None:
    """χ² homogeneity of a table chunk × category.

    Parameters
    ----------
    table : int array, shape (chunks, categories)
        Games. Columns are pooled here where they are rare.

    Returns
    -------
    ChunkTest or None
        None with fewer than two chunks, or one category left.
    """
    table = table[table.sum(axis=1) > 0]
    if len(table) < 2:
        return None
    sizes = table.sum(axis=1)
    total = int(sizes.sum())
    groups = pool(table.sum(axis=0), float(sizes.min()) / total)
    pooled = np.zeros((len(table), int(groups[-1]) + 1), dtype=np.int64)
    np.add.at(pooled.T, groups, table.T)
    freedom = pooled.shape[1] - 1
    if freedom < 1:
        return None
    expected = sizes[:, None] * (pooled.sum(axis=0) / total)[None, :]
    parts = ((pooled - expected) ** 2 / expected).sum(axis=1)
    squares = parts / (1 - sizes / total)  # chunk against the rest: two rows of a contingency table
    whole, whole_freedom = float(parts.sum()), freedom * (len(table) - 1)
    return ChunkTest(
        squares,
        freedom,
        np.asarray(special.chdtrc(freedom, squares), dtype=np.float64),
        float(special.chdtrc(whole_freedom, whole)),
        float(special.chdtr(whole_freedom, whole)),
    )


_WATCHED: dict[str, tuple[Text, pl.Expr]] = {
    "outcome": (Text("who wins", "胡家"), pl.col("winner_role").fill_null(3)),
    "draws": (Text("cards drawn", "摸牌数"), pl.col("draws")),
    "tun": (Text("tun", "囤数"), pl.col("tun").fill_null(0)),
    "wangs": (Text("the dealer's wangs", "庄家起手王霸"), pl.col("wangs_dealt_dealer")),
}
"""What chunks are compared by. Within sessions games are dependent, only the deals are not."""


def _tables(run: Run, label: str) -> dict[str, NDArray[np.int64]]:
    """Games by chunk and category."""
    names = ["wangs"] if run.manifest.session else list(_WATCHED)
    counts: dict[str, list[dict[int, int]]] = {name: [] for name in names}
    for part in _parts(run, label):
        rows = prepare(_read(run, part.file, label).lazy()).select(
            _WATCHED[name][1].cast(pl.Int64).alias(name) for name in names
        )
        found = rows.collect()
        for name in names:
            counts[name].append(dict(found[name].value_counts().rows()))
    tables = {}
    for name, chunks in counts.items():
        values = sorted({value for chunk in chunks for value in chunk})
        tables[name] = np.array(
            [[chunk.get(value, 0) for value in values] for chunk in chunks], dtype=np.int64
        )
    return tables


def _parts(run: Run, label: str) -> list[PartRecord]:
    return [part for part in run.parts if part.variant == label and (run.path / part.file).is_file()]


def _read(run: Run, file: str, label: str, columns: list[str] | None = None) -> pl.DataFrame:
    return pl.read_parquet(run.path / file, columns=columns).with_columns(variant=pl.lit(label))


def homogeneity(run: Run, beyond: float = BEYOND) -> tuple[list[Finding], float]:
    """Compare every chunk of a run with the others of its variant.

    Parameters
    ----------
    run : Run
    beyond : float
        p-value below which a chunk is reported.

    Returns
    -------
    list of Finding, float
        And the smallest p-value of any chunk.
    """
    tests: list[tuple[str, str, ChunkTest]] = []
    for label in run.variants:
        for name, table in _tables(run, label).items():
            found = chunk_test(table)
            if found is not None:
                tests.append((label, name, found))
    number = sum(len(test.p) for _, _, test in tests)
    limit = min(beyond, FALSE_ALARM / max(1, number))
    findings = []
    for label, name, test in tests:
        by = _WATCHED[name][0]
        parts = _parts(run, label)
        for chunk in np.flatnonzero(test.p < limit):
            part = parts[int(chunk)]
            games = f"{part.first}–{part.first + part.count - 1}"
            detail = f"χ² = {test.squares[chunk]:.1f}, {test.freedom} df, p = {test.p[chunk]:.1g}"
            findings.append(
                Finding(
                    "chunk",
                    label,
                    Text(
                        f"{label}: games {games} differ from the others by {by.en} ({detail})",
                        f"{label}：第 {games} 局的{by.zh}与其余各局不符（{detail}）",
                    ),
                )
            )
        if test.p_alike < limit:
            findings.append(
                Finding(
                    "alike",
                    label,
                    Text(
                        f"{label}: chunks are more alike by {by.en} than chance allows (p = {test.p_alike:.1g})",
                        f"{label}：各块的{by.zh}过于一致，不似随机（p = {test.p_alike:.1g}）",
                    ),
                )
            )
    return findings, min((float(test.p.min()) for _, _, test in tests), default=1.0)


# --- N games are N deals -----------------------------------------------------------------------------------


def repeats(run: Run) -> list[Finding]:
    """Find chunks with the same games in them, and one game again and again within a chunk."""
    findings = []
    for label in run.variants:
        seen: dict[str, int] = {}
        for part in _parts(run, label):
            rows = pl.read_parquet(run.path / part.file).drop("game", "session")
            marks = rows.hash_rows(seed=0)
            key = hashlib.sha256(marks.to_numpy().tobytes()).hexdigest()
            if key in seen and part.count > 1:
                findings.append(
                    Finding(
                        "repeat",
                        label,
                        Text(
                            f"{label}: games from {part.first} on repeat those from {seen[key]} on",
                            f"{label}：第 {part.first} 局起重复了第 {seen[key]} 局起的牌局",
                        ),
                    )
                )
            seen.setdefault(key, part.first)
            most = int(marks.value_counts()["count"].to_numpy().max(initial=0))
            if most > max(10, part.count // 100):
                findings.append(
                    Finding(
                        "repeat",
                        label,
                        Text(
                            f"{label}: {most:,} of the {part.count:,} games from {part.first} on are one and the same",
                            f"{label}：第 {part.first} 局起的 {part.count:,} 局中有 {most:,} 局完全相同",
                        ),
                    )
                )
    return findings


def seed_decks(seed: int, wangs: int) -> Decks:
    """Decks as the engine shuffles them."""
    from sim.rng import DEAL_WORDS, STREAM_DEAL, words
    from sim.rules.deal import shuffle

    def decks(first: int, count: int) -> NDArray[np.int8]:
        found = np.empty((count, 80 + wangs), dtype=np.int8)
        deck = np.zeros(84, dtype=np.int64)
        for number, row in enumerate(words(seed, STREAM_DEAL, first, count, DEAL_WORDS)):
            shuffle(row, wangs, deck)
            found[number] = deck[: 80 + wangs]
        return found

    return decks


def spread_blocks(games: int, wanted: int, size: int = _BLOCK) -> list[tuple[int, int]]:
    """Blocks of games spread evenly over a run, first and last included: (first, count)."""
    if games <= wanted:
        return [(first, min(size, games - first)) for first in range(0, games, size)]
    number = max(2, wanted // size)
    size = min(size, wanted // number)
    starts = {round(step * (games - size) / (number - 1)) for step in range(number)}
    return [(first, size) for first in sorted(starts)]


def duplicate_deals(decks: Decks, blocks: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pairs of games with the same deck, by a 128-bit hash of it.

    Parameters
    ----------
    decks : callable
        ``(first, count) -> decks``.
    blocks : sequence of (first, count)
        Games to look at, none twice.

    Returns
    -------
    list of (int, int)
        Game and the earlier one that has the same deal.
    """
    seen: dict[bytes, int] = {}
    found = []
    for first, count in blocks:
        for offset, deck in enumerate(decks(first, count)):
            mark = hashlib.blake2b(deck.tobytes(), digest_size=16).digest()
            earlier = seen.setdefault(mark, first + offset)
            if earlier != first + offset:
                found.append((first + offset, earlier))
    return found


_WANG = 20
_HANDS = ((0, 21), (21, 41), (41, 61))


def wrong_hands(run: Run, label: str, decks: Decks, blocks: Sequence[tuple[int, int]]) -> list[int]:
    """Games whose stored wangs are not those that their deals give to dealer, next and third."""
    wrong: list[int] = []
    parts = {part.first: part for part in _parts(run, label)}
    size = run.manifest.chunk
    needed = ["game", "dealer", "sitter", *(f"wangs_dealt_{seat}" for seat in range(4))]
    for first, count in blocks:
        for begin, end in _within_parts(first, count, size):
            part = parts.get(begin // size * size)
            if part is None:
                continue
            rows = _read(run, part.file, label, needed)
            rows = rows.slice(begin - part.first, end - begin)
            dealt = decks(begin, end - begin) == _WANG
            dealer = rows["dealer"].to_numpy().astype(np.int64)
            seats = np.where(rows["sitter"].is_null().to_numpy(), 3, 4)
            stored = np.stack(
                [rows[f"wangs_dealt_{seat}"].fill_null(-1).to_numpy() for seat in range(4)], axis=1
            )
            steps = (np.zeros_like(seats), np.ones_like(seats), seats - 1)
            bad = np.zeros(len(rows), dtype=bool)
            for step, (low, high) in zip(steps, _HANDS, strict=True):
                mine = stored[np.arange(len(rows)), (dealer + step) % seats]
                bad |= mine != dealt[:, low:high].sum(axis=1)
            bad |= rows["game"].to_numpy() != np.arange(begin, end)
            wrong += (np.flatnonzero(bad) + begin).tolist()
    return wrong


def _within_parts(first: int, count: int, size: int) -> Iterator[tuple[int, int]]:
    end = first + count
    while first < end:
        stop = min(end, first // size * size + size)
        yield first, stop
        first = stop


def deals(run: Run, wanted: int | None = None) -> tuple[list[Finding], int]:
    """Make deals of a run again: all must differ, and the stored games must have been dealt from them.

    Parameters
    ----------
    run : Run
    wanted : int, optional
        Games to look at, spread over the run; by default ``DEALS_CHECKED``.

    Returns
    -------
    list of Finding, int
        And the number of deals looked at.
    """
    from sim._jit import PURE

    limit = wanted if wanted is not None else (_PURE_DEALS if PURE else DEALS_CHECKED)
    manifest = run.manifest
    blocks = spread_blocks(manifest.games, limit)
    findings = []
    most = max(int(record.flat()["deck.wangs"]) for record in run.variants.values())  # type: ignore[call-overload]
    same = duplicate_deals(seed_decks(manifest.seed, most), blocks)
    if same:
        game, earlier = same[0]
        findings.append(
            Finding(
                "deals",
                None,
                Text(
                    f"{len(same):,} games have the deal of another one; game {game} that of game {earlier}",
                    f"{len(same):,} 局与别的局发牌相同；第 {game} 局与第 {earlier} 局相同",
                ),
            )
        )
    for label, record in run.variants.items():
        keys = record.flat()
        if keys["deck.wangs"] == 0 or keys.get("turn.extra_quad") != "skip_discard":
            continue  # without wangs, or with cards replaced, the stored wangs do not tell the deal
        decks = seed_decks(manifest.seed, int(keys["deck.wangs"]))  # type: ignore[call-overload]
        wrong = wrong_hands(run, label, decks, blocks)
        if wrong:
            findings.append(
                Finding(
                    "dealt",
                    label,
                    Text(
                        f"{label}: {len(wrong):,} games were not dealt from their own seed; the first is {wrong[0]}",
                        f"{label}：有 {len(wrong):,} 局并非由自己的种子发牌，首见于第 {wrong[0]} 局",
                    ),
                )
            )
    return findings, sum(count for _, count in blocks)


# --- the whole ---------------------------------------------------------------------------------------------


def below_target(run: Run) -> list[Finding]:
    """Name variants that lack games, and a run that did not end well."""
    manifest = run.manifest
    findings = []
    for label in run.variants:
        there = sum(part.count for part in run.parts if part.variant == label)
        if there < manifest.games:
            findings.append(
                Finding(
                    "target",
                    label,
                    Text(
                        f"{label}: {there:,} of {manifest.games:,} games are there; the run is {run.status}",
                        f"{label}：仅有 {there:,} 局，应有 {manifest.games:,} 局；运行状态为 {run.status}",
                    ),
                )
            )
    return findings


def check_run(source: Run | str | Path, wanted_deals: int | None = None) -> Honesty:
    """Check a run.

    Parameters
    ----------
    source : Run or path
    wanted_deals : int, optional
        See :func:`deals`.

    Returns
    -------
    Honesty
        ``ok`` when nothing was found.
    """
    run = source if isinstance(source, Run) else open_run(source)
    findings = below_target(run)
    for damage in run.damage():
        text = Text(f"{damage.file} {damage.problem}", f"{damage.file}：{damage.problem}")
        findings.append(Finding("damage", None, text))
    if any(finding.check == "damage" for finding in findings):
        return Honesty(tuple(findings))  # what cannot be trusted is not counted
    uneven, least = homogeneity(run)
    findings += uneven
    findings += repeats(run)
    alike, number = deals(run, wanted_deals)
    findings += alike
    chunks = len(run.parts)
    checked = Text(
        f"checked: {run.manifest.done:,} of {run.manifest.total:,} games in {chunks:,} chunks, least p {least:.2g}; "
        f"{number:,} deals made again, {'some the same' if alike else 'all different'}",
        f"已检查：{run.manifest.total:,} 局中的 {run.manifest.done:,} 局，共 {chunks:,} 块，最小 p 值 {least:.2g}；"
        f"重新发牌 {number:,} 局，{'有相同者' if alike else '全部不同'}",
    )
    return Honesty(tuple(findings), (checked,))


def unsourced(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows of a summary or comparison that have a number but no seed or variant hash beside it.

    Parameters
    ----------
    frame : DataFrame
        From :func:`analysis.summary.summarise` or :func:`analysis.compare.compare`.

    Returns
    -------
    DataFrame
        Empty when all is well.
    """
    beside = [name for name in ("seed", "digest", "base_digest") if name in frame.columns]
    lacking = [name for name in ("seed", "digest") if name not in frame.columns]
    if lacking:
        return frame
    return frame.filter(pl.col("value").is_not_null() & pl.any_horizontal(pl.col(beside).is_null()))
