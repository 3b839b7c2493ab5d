"""Paired comparison: exact sums, the same whatever the chunks, right laws, words."""

from __future__ import annotations

import io
import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from paired import DRAW, fake_engine, run, variants  # noqa: F401
from scipy import stats as st

from analysis import compare as cmp
from analysis.compare_words import comparison_json, print_comparison, verdict, verdicts
from analysis.honesty import unsourced
from analysis.intervals import mean_interval
from analysis.joint import EMPTY, Column, Features, collect_joint, joint_sums, pieces
from analysis.load import LoadError
from analysis.metrics import METRICS, MetricError, metric
from analysis.sufficient import collect_stats
from analysis.tables import to_csv
from analysis.targets import Target, parse_target, parse_targets
from sim._jit import PURE
from sim.cards import WANG
from sim.gamelog import Player
from sim.rng import DEAL_WORDS, STREAM_DEAL, words
from sim.rules.deal import shuffle
from sim.variant import load_variant

pytestmark = pytest.mark.usefixtures("fake_engine")


# --- the same deals ---------------------------------------------------------------------------------------


def test_game_has_the_same_ordinary_cards_in_the_same_order_with_any_number_of_wangs():
    deck = np.zeros(84, dtype=np.int64)
    for row in words(5, STREAM_DEAL, 10**6, 40, DEAL_WORDS):
        orders = []
        for wangs in range(5):
            shuffle(row, wangs, deck)
            orders.append(deck[: 80 + wangs][deck[: 80 + wangs] != WANG].tolist())
            assert (deck[: 80 + wangs] == WANG).sum() == wangs
        assert all(order == orders[0] for order in orders)


def test_played_games_of_different_variants_are_dealt_alike():
    names = ("two_wang", "three_wang", "four_wang", "four_wang+by_wang")
    for game in (0, 3):
        orders = {}
        for name in names:
            start = Player(load_variant(name), ("greedy",) * 3, 9).events(game)[0]
            dealer = start["dealer"]
            seats = [(dealer + step) % 4 for step in (0, 1, 3)]
            hands = [sorted(start["hands"][str(seat)]) for seat in seats]
            orders[name] = (hands, start["wall"])
        assert orders["four_wang"] == orders["four_wang+by_wang"]
        everything = {
            name: sorted("".join("".join(hand) for hand in hands) + wall).count("王")
            for name, (hands, wall) in orders.items()
        }
        assert list(everything.values()) == [2, 3, 4, 4]
        two, four = orders["two_wang"], orders["four_wang"]
        moved = sum(len(set_minus(a, b)) for a, b in zip(two[0], four[0], strict=True))
        assert moved <= 8  # 60 with unrelated shuffles


def set_minus(left: list[str], right: list[str]) -> list[str]:
    """Cards of a hand that the other lacks."""
    rest = list(right)
    return [card for card in left if not (card in rest and not rest.remove(card))]  # type: ignore[func-returns-value]


# --- exact sums -------------------------------------------------------------------------------------------


def test_column_products_are_exact_beyond_int64():
    rng = np.random.default_rng(3)
    for top in (10, 10**9, 2**50, 2**62):
        left, right = (rng.integers(-top, top, size=300) for _ in range(2))
        exact = sum(int(a) * int(b) for a, b in zip(left, right, strict=True))
        assert Column(left).dot(Column(right)) == exact
        assert Column(left).sum() == sum(map(int, left))


def test_sums_do_not_depend_on_pieces_or_order(tmp_path: Path):
    keys = ("draw_rate", "score_dealer", "sd_score", "share_red", "draw_one_holder")
    chosen = [metric(key) for key in keys]
    played = run(tmp_path / "a", 12, 15, games=3000)
    pairs = [("huxi12", "huxi15")]
    whole = collect_joint(played, chosen, pairs)
    features = Features(chosen)
    parts = [joint_sums(features, piece, pairs) for piece in pieces(played)]
    assert len(parts) == 3
    for order in itertools.permutations(parts):
        total = EMPTY
        for part in order:
            total += part
        assert total == whole
    other = run(tmp_path / "b", 12, 15, games=3000, chunk=700)
    assert collect_joint(other, chosen, pairs) == whole
    assert whole.units == 3000
    draws = [whole.own[label, "draw_rate"].sums[0] for label in ("huxi12", "huxi15")]
    nested = whole.cross["huxi12", "huxi15", "draw_rate"]
    assert nested.products[0][0] == draws[0]  # drawn under the smaller, so under the larger too
    assert nested.differing == draws[1] - draws[0]


def test_same_csv_for_any_jobs_and_chunks(tmp_path: Path):
    found = [
        to_csv(cmp.compare_run(run(tmp_path / str(number), 12, 15, games=3000, **how)))
        for number, how in enumerate(({}, {"jobs": 2}, {"chunk": 700, "jobs": 2}))
    ]
    assert found[0] == found[1] == found[2]
    assert found[0].count("\n") == 1 + len(METRICS)


def test_games_that_do_not_match_are_refused(tmp_path: Path):
    played = run(tmp_path / "a", 12, 15, games=2000)
    frames = {label: played.games(label) for label in played.variants}
    frames["huxi15"] = frames["huxi15"].slice(1000)
    with pytest.raises(LoadError, match="cannot be paired"):
        joint_sums(Features([metric("draw_rate")]), frames, [("huxi12", "huxi15")])


# --- laws -------------------------------------------------------------------------------------------------


def test_paired_error_of_a_mean_is_that_of_the_differences(tmp_path: Path):
    played = run(tmp_path / "a", 12, 15, games=3000)
    row = cmp.compare_run(played, metrics=["score_dealer"]).row(0, named=True)
    frames = [played.games(label).collect()["score_0"].to_numpy() for label in played.variants]
    step = frames[1] - frames[0]
    assert row["difference"] == pytest.approx(step.mean())
    differing = int((step != 0).sum())
    assert row["differing"] >= differing  # in any feature
    half = st.t.ppf(0.975, row["differing"] - 1) * step.std(ddof=1) / math.sqrt(3000)
    assert (row["high"] - row["low"]) / 2 == pytest.approx(half)
    t = st.ttest_rel(frames[1], frames[0]).statistic
    assert row["p"] == pytest.approx(2 * st.t.sf(abs(t), row["differing"] - 1))
    assert row["correlation"] == pytest.approx(np.corrcoef(frames)[0, 1])
    assert row["reduction"] == pytest.approx((frames[0].var() + frames[1].var()) / step.var())


def test_linearised_errors_agree_with_the_jackknife(tmp_path: Path):
    played = run(tmp_path / "a", 12, 15, games=2000)
    rows = {label: played.games(label).collect() for label in played.variants}
    chosen = [metric(key) for key in ("huxi_mean", "share_red", "sd_score_dealer")]
    sums = collect_joint(played, chosen, [("huxi12", "huxi15")])
    features = Features(chosen)
    columns = {label: features.columns(frame.lazy()) for label, frame in rows.items()}

    def value(item, parts):
        if item.kind == "spread":
            return np.sqrt(parts[1] / parts[2] - (parts[0] / parts[2]) ** 2)
        return parts[0] / parts[1]

    for item in chosen:
        left_out = {}
        for label in rows:
            held = [column.values for column in features.of(item, columns[label])]
            left_out[label] = value(item, [column.sum() - column for column in held])
        step = left_out["huxi15"] - left_out["huxi12"]
        jackknife = (len(step) - 1) * ((step - step.mean()) ** 2).mean()
        own = [sums.own[label, item.key] for label in rows]
        spread = cmp.linearise(item, sums.units, *own, sums.cross["huxi12", "huxi15", item.key])
        assert spread.paired == pytest.approx(jackknife, rel=0.02)


def test_sessions_are_the_units(tmp_path: Path):
    played = run(tmp_path / "a", 12, 15, games=2000, session=10)
    found = cmp.compare_run(played, metrics=["draw_rate", "score_dealer", "score_p50"])
    assert found["units"].to_list() == [200, 200, 200]
    row = found.row(1, named=True)
    sums = [
        played.games(label)
        .group_by("session")
        .agg(pl.col("score_0").sum())
        .sort("session")
        .collect()["score_0"]
        for label in played.variants
    ]
    step = (sums[1] - sums[0]).to_numpy() / 10
    half = st.t.ppf(0.975, row["differing"] - 1) * step.std(ddof=1) / math.sqrt(200)
    assert (row["high"] - row["low"]) / 2 == pytest.approx(half)


def test_counts_interval_is_the_published_one():
    # Bonett and Price 2012: (c + 1) / (n + 2) and (b + 1) / (n + 2) in the place of the discordant shares.
    law = cmp.Counts(gained=20, lost=8, units=100)
    up, down = 21 / 102, 9 / 102
    half = 1.959964 * math.sqrt((up + down - (up - down) ** 2) / 102)
    assert law.interval(0.95) == pytest.approx((up - down - half, up - down + half), abs=1e-6)
    assert cmp.p_value(cmp.Counts(8, 8, 100)) == 1.0
    low, high = cmp.Counts(0, 0, 1000).interval(0.95)
    assert low == -high
    assert 0.001 < high < 0.005


def test_few_differences_rest_on_their_number():
    law = cmp.Few(differing=3, units=1000, least=-2.0, most=5.0)
    exact = st.binomtest(3, 1000).proportion_ci(0.95, "exact")
    assert law.interval(0.95) == pytest.approx((-2 * exact.high, 5 * exact.high))
    assert cmp.Few(3, 1000, 2.0, 5.0).interval(0.95) == pytest.approx((2 * exact.low, 5 * exact.high))


def test_p_values_are_the_levels_at_which_intervals_turn():
    law = cmp.Student(0.3, 0.1, 50)
    low, _ = law.interval(1 - cmp.p_value(law))
    assert low == pytest.approx(0.0, abs=1e-12)
    counts = cmp.Counts(30, 10, 400)
    low, _ = counts.interval(1 - cmp.p_value(counts))
    assert low == pytest.approx(0.0, abs=1e-6)
    p = cmp.p_equivalence(law, 0.5)
    assert p == pytest.approx(st.t.sf(2.0, 50), rel=1e-6)
    assert (
        cmp.p_equivalence(law, 0.1) == pytest.approx(st.t.sf(-2.0, 50), rel=1e-6)
        or cmp.p_equivalence(law, 0.1) == 1
    )
    assert cmp.p_equivalence(cmp.Same(), 0.5) == 1.0


def test_holm_by_hand():
    assert cmp.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert cmp.holm([]) == []
    assert cmp.holm([0.7, 0.9]) == [1.0, 1.0]


def test_quantile_interval_holds_whatever_the_dependence():
    values = np.arange(50)

    class Fixed:
        def __init__(self, low: float, high: float) -> None:
            self.interval = mean_interval(values, np.ones(50, dtype=np.int64))
            self.interval = type(self.interval)(low, high, "order")

    law = cmp.Order(lambda level: Fixed(3, 5), lambda level: Fixed(7, 8))  # type: ignore[arg-type, return-value]
    assert law.interval(0.95) == (2, 5)


def test_identical_rules_differ_nowhere_and_unpaired_is_never_too_short(tmp_path: Path):
    named = [v.model_copy(update={"name": n}) for v, n in zip(variants(15, 15), "ab", strict=True)]
    from sim.run import simulate

    played = simulate(named, 2000, out=tmp_path / "a", jobs=1, quiet=True)
    found = cmp.compare_run(played)
    told = found.filter(pl.col("difference").is_not_null())
    assert (told["difference"] == 0).all()
    assert (told["p_holm"] == 1).all()
    assert not told["decision"].is_in(["higher", "lower"]).any()
    assert set(told["method"]) <= {"same", "counts", "order"}
    assert "the same in every deal" in verdict(
        found.filter(pl.col("metric") == "tun_mean").row(0, named=True)
    )


def test_pairing_that_does_not_pay_takes_the_larger_variance(tmp_path: Path):
    keys = ["score_dealer"]
    sums = collect_joint(
        run(tmp_path / "a", 12, 15, games=2000), [metric(key) for key in keys], [("huxi12", "huxi15")]
    )
    own = sums.own["huxi12", "score_dealer"], sums.own["huxi15", "score_dealer"]
    cross = sums.cross["huxi12", "huxi15", "score_dealer"]
    # The same margins with the products of means: no correlation, and with less: a negative one.
    top = own[0].sums[0] * own[1].sums[0] // sums.units
    none = type(cross)(
        ((top, cross.products[0][1]), cross.products[1]), cross.differing, cross.least, cross.most
    )
    spread = cmp.linearise(metric("score_dealer"), sums.units, *own, none)
    assert spread.reduction == pytest.approx(1.0, abs=0.01)
    assert abs(spread.correlation) < 0.01
    assert spread.paired == pytest.approx(float(Fraction(spread.unpaired)), rel=0.01)


def test_coverage_of_paired_intervals_on_a_known_law(tmp_path: Path):
    """Draw rates of 10 % and 15 %, and fan means, over 100 stretches of 500 games: at least so many must hit."""
    played = run(tmp_path / "a", 12, 15, games=50_000, chunk=10_000)
    frames = {
        label: played.games(label).collect().with_columns(variant=pl.lit(label)) for label in played.variants
    }
    chosen = [metric(key) for key in ("draw_rate", "fan_mean", "score_dealer", "draws")]
    features = Features(chosen)
    pair = ("huxi12", "huxi15")
    whole = cmp.compare_run(played, metrics=[item.key for item in chosen])
    truth = dict(whole.select("metric", "difference").rows()) | {"draw_rate": DRAW[15] - DRAW[12]}
    hits = dict.fromkeys(truth, 0)
    for start in range(0, 50_000, 500):
        rows = {label: frame.slice(start, 500).lazy() for label, frame in frames.items()}
        sums = joint_sums(features, rows, [pair])
        sides = [cmp.Side(label, collect_stats(rows[label], chosen)[label], 2) for label in pair]
        for item in chosen:
            found = cmp.find(item, *sides, sums, 0.95)
            low, high = found.law.interval(0.95)
            hits[item.key] += low <= truth[item.key] <= high
    for key, count in hits.items():
        # P(Binomial(100, 0.95) < 84) is about 10⁻⁵; a law that is far too short falls below.
        assert count >= 84, (key, count)


def test_no_difference_is_seldom_claimed():
    """The chance of any false claim among ten true nulls stays near 5 % by Holm."""
    rng = np.random.default_rng(11)
    false = 0
    for _ in range(400):
        changed = rng.multinomial(2000, (0.03, 0.03, 0.94), size=10)
        values = [cmp.p_value(cmp.Counts(int(up), int(down), 2000)) for up, down, _ in changed]
        false += min(cmp.holm(values)) <= 0.05
    assert false <= 42  # P(Binomial(400, 0.05) > 42) is about 10⁻⁵


def test_equivalence_is_seldom_claimed_at_the_margin():
    """A true difference equal to the margin passes for equivalent in at most 5 % of comparisons."""
    rng = np.random.default_rng(12)
    claimed = 0
    for _ in range(400):
        up, down, _ = rng.multinomial(4000, (0.04, 0.03, 0.93))
        claimed += cmp.p_equivalence(cmp.Counts(int(up), int(down), 4000), 0.01) <= 0.05
    assert claimed <= 42


@pytest.mark.skipif(PURE, reason="takes 80,000 games")
def test_pairing_saves_a_factor_of_two_for_the_draw_rate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """by_fan against by_wang: the factor less five of its standard errors is above two."""
    monkeypatch.undo()
    from sim.run import simulate

    played = simulate(
        ["four_wang", "four_wang+by_wang"], 40_000, seed=3, jobs=1, quiet=True, out=tmp_path / "run"
    )
    drawn = [
        played.games(label).select(pl.col("winner").is_null()).collect()["winner"]
        for label in played.variants
    ]
    one, two = (column.to_numpy().astype(float) for column in drawn)
    factor, error = reduction_with_error(one, two)
    row = cmp.compare_run(played, metrics=["draw_rate"]).row(0, named=True)
    assert row["reduction"] == pytest.approx(factor)
    assert factor - 5 * error > 2


def reduction_with_error(one, two, blocks: int = 40):
    """Variance reduction, and its standard error from the jackknife over blocks."""

    def factor(a, b):
        return (a.var() + b.var()) / (a - b).var()

    parts = np.array_split(np.arange(len(one)), blocks)
    left = np.array([factor(np.delete(one, part), np.delete(two, part)) for part in parts])
    error = math.sqrt((blocks - 1) * ((left - left.mean()) ** 2).mean())
    return factor(one, two), error


# --- claims and words -------------------------------------------------------------------------------------


def test_decisions_margins_and_claims(tmp_path: Path):
    played = run(tmp_path / "a", 12, 15, games=6000)
    found = cmp.compare_run(played, metrics=["draw_rate", "tun_mean", "fan_mean"], margins=["tun_mean=0.2"])
    by_key = {row["metric"]: row for row in found.iter_rows(named=True)}
    assert found["claims"].to_list() == [3, 3, 3]
    draw = by_key["draw_rate"]
    assert draw["decision"] == "higher"
    assert draw["joint_low"] < draw["low"] < draw["difference"] < draw["high"] < draw["joint_high"]
    assert draw["reduction"] > 2
    assert by_key["tun_mean"]["equivalent"] is True
    assert by_key["fan_mean"]["equivalent"] is None
    assert draw["base_digest"] != draw["digest"]
    assert unsourced(found).is_empty()
    bare = found.with_columns(digest=pl.lit(None, dtype=pl.String))
    assert len(unsourced(bare)) == 3


def test_verdict_in_both_languages(tmp_path: Path):
    played = run(tmp_path / "a", 12, 15, games=6000)
    found = cmp.compare_run(played, metrics=["draw_rate", "score_dealer"], margins=["draw_rate=0.001"])
    en, zh = (verdicts(found, lang) for lang in ("en", "zh"))
    assert len(en) == len(zh) == 2
    assert en[0].startswith("huxi15 draws 5.15 ± 0.64 points")
    assert " points more often than huxi12" in en[0]
    assert en[0].endswith("not shown to be within ± 0.1 points")
    assert zh[0].startswith("huxi15 的荒庄率比 huxi12 高 5.15 ± 0.64 个百分点")
    back = cmp.compare_run(run(tmp_path / "b", 15, 12, games=6000), metrics=["draw_rate"])
    assert " points less often than huxi15" in verdict(back.row(0, named=True))
    undecided = verdict(
        cmp.compare_run(played, metrics=["win_share_next"]).row(0, named=True),
        "en",
        {"huxi12": "A", "huxi15": "B"},
    )
    assert undecided.startswith("share of wins won by next player: no difference shown between B and A")
    stream = io.StringIO()
    print_comparison(cmp.compare_run(played), "en", file=stream, facts=["foot"])
    text = stream.getvalue()
    assert "× games" in text
    assert "foot" in text
    assert max(map(len, text.splitlines())) <= 120
    document = json.loads(comparison_json(found, {"games": 6000}))
    assert document["pairs"][0]["metrics"]["draw_rate"]["verdict"]["zh"] == zh[0]
    assert set(document["digests"]) == {"huxi12", "huxi15"}
    assert document["seed"] == 1


def test_bad_comparisons_say_what_is_wrong(tmp_path: Path):
    alone = run(tmp_path / "a", 12, games=1000)
    with pytest.raises(cmp.CompareError, match="one variant only"):
        cmp.compare_run(alone)
    played = run(tmp_path / "b", 12, 15, games=2000)
    part = played.manifest.parts[:-1]
    played.manifest = played.manifest.model_copy(update={"parts": part, "status": "interrupted"})
    with pytest.raises(cmp.CompareError, match="not complete"):
        cmp.compare_run(played)
    with pytest.raises(cmp.CompareError, match="same rules"):
        cmp.grid(["two_wang", "two_wang"])
    with pytest.raises(cmp.CompareError, match="key=value,value"):
        cmp.grid(["two_wang"], vary=["win.min_huxi"])
    with pytest.raises(cmp.CompareError, match="two variants or more"):
        cmp.compare(["two_wang"])
    with pytest.raises(MetricError, match="did you mean draw_rate"):
        cmp.compare(["two_wang", "four_wang"], metrics=["draw_rat"])


def test_grid_of_varied_keys():
    loaded, names = cmp.grid(
        ["four_wang"], ["stake=2"], ["win.wang_limit.mode=by_fan,by_wang", "win.min_huxi=12,15"]
    )
    assert names == [
        "four_wang+by_fan+min_huxi=12",
        "four_wang+by_fan+min_huxi=15",
        "four_wang+by_wang+min_huxi=12",
        "four_wang+by_wang+min_huxi=15",
    ]
    assert [item.flat()["win.min_huxi"] for item in loaded] == [12, 15, 12, 15]
    assert {item.flat()["stake"] for item in loaded} == {2}


def test_pairs():
    assert cmp.pairs_of(["a", "b", "c"]) == [("a", "b"), ("a", "c")]
    assert cmp.pairs_of(["a", "b", "c"], "all") == [("a", "b"), ("a", "c"), ("b", "c")]
    with pytest.raises(cmp.CompareError):
        cmp.pairs_of(["a", "b"], "some")  # type: ignore[arg-type]


def test_targets():
    assert parse_target("draw_rate=0.002") == Target("draw_rate", 0.002)
    assert parse_target(" score_dealer = 5% ") == Target("score_dealer", 0.05, True)
    assert parse_target("score_dealer=5%").width(-4.0) == pytest.approx(0.2)
    assert [str(target) for target in parse_targets(["draw_rate=1%,tun_mean=0.1"])] == [
        "draw_rate=1%",
        "tun_mean=0.1",
    ]
    assert parse_targets({"draw_rate": 0.01}) == [Target("draw_rate", 0.01)]
    for wrong in (
        "draw_rate",
        "draw_rate=",
        "draw_rate=x",
        "draw_rate=0",
        "draw_rate=-1%",
        "draw_rate=2",
        "x=1",
    ):
        with pytest.raises(MetricError):
            parse_target(wrong)
    with pytest.raises(MetricError, match="two widths"):
        parse_targets(["draw_rate=0.1", "draw_rate=0.2"])
