"""The command line ``chehuzi``: a thin layer over the functions of ``sim`` and ``analysis``.

Data go to stdout, progress and messages to stderr. Exit status 0 done, 1 the work failed or found something wrong, 2
bad usage or bad input, 130 stopped by Ctrl-C. Nothing heavy is imported before a command needs it.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

LANGUAGES = click.Choice(["en", "zh"])


def say(text: str) -> None:
    """A message for people, on stderr."""
    click.echo(text, err=True)


def default_language() -> str:
    """``zh`` where the environment speaks Chinese, else ``en``."""
    for name in ("CHEHUZI_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name, "")
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def lang_option(function: F) -> F:
    """``--lang en|zh``, by default from the environment."""
    return click.option(
        "--lang",
        type=LANGUAGES,
        default=default_language,
        show_default="from the environment",
        help="Language.",
    )(function)


def set_option(function: F) -> F:
    """``--set key=value``, repeatable."""
    return click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="KEY=VALUE",
        help="Override one key of the variant, e.g. win.wang_limit.mode=by_wang (repeatable).",
    )(function)


def until_option(function: F) -> F:
    """``--until METRIC=WIDTH``, repeatable."""
    return click.option(
        "--until",
        multiple=True,
        metavar="METRIC=WIDTH",
        help="Play until the interval's half-width: draw_rate=0.002, or =5% of the value (repeatable).",
    )(function)


def json_option(function: F) -> F:
    """``--json``: one JSON document and nothing else."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(function)


seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**64 - 1), default=1, show_default=True, help="Of all randomness."
)
jobs_option = click.option(
    "--jobs", type=click.IntRange(1, 4096), default=None, help="Processes [default: all cores]."
)
jobs_as_needed_option = click.option(
    "--jobs", type=click.IntRange(1, 4096), default=None, help="Processes [default: as needed]."
)
level_option = click.option(
    "--level", type=click.FloatRange(0.5, 0.9999), default=0.95, show_default=True, help="Of intervals."
)
quiet_option = click.option("--quiet", is_flag=True, help="No progress.")
bots_option = click.option(
    "--bots", default="greedy", show_default=True, help="One bot for all seats, or dealer,next,third."
)


def print_json(document: object) -> None:
    """Write a JSON document to stdout, Chinese as it is."""
    import json

    click.echo(json.dumps(document, ensure_ascii=False, indent=1))


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="chehuzi", prog_name="chehuzi", message="%(prog)s %(version)s")
def app() -> None:
    """Simulate 永州扯胡子 (Chehuzi) and analyse its rule variants.

    \b
    chehuzi simulate two_wang three_wang four_wang --games 100000
    chehuzi variants show four_wang
    chehuzi hand "一二三四五六七八九壹贰叁肆伍陆柒捌玖拾拾" --variant two_wang
    """


# --- variants ----------------------------------------------------------------------------------------


@app.group(invoke_without_command=True)
@click.pass_context
@lang_option
def variants(context: click.Context, lang: str) -> None:
    """List the presets; show, compare and check variants."""
    if context.invoked_subcommand is None:
        from sim.variant import list_presets

        for name, title in list_presets():
            click.echo(f"{name:<12} {title[lang]}")


@variants.command("show")
@click.argument("variant")
@set_option
@json_option
def variants_show(variant: str, overrides: tuple[str, ...], as_json: bool) -> None:
    """Print every key of a variant with its value and where it comes from."""
    from sim.variant import load_variant, origins

    loaded = load_variant(variant, overrides)
    where = origins(variant, overrides)
    if as_json:
        keys = {key: {"value": value, "origin": where[key]} for key, value in loaded.flat().items()}
        print_json({"variant": loaded.name, "digest": loaded.digest, "keys": keys})
        return
    flat = loaded.flat()
    width = max(len(key) for key in flat)
    for key, value in flat.items():
        click.echo(f"{key:<{width}}  {_yaml_value(value):<26}  {where[key]}")


def _yaml_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {item}" for key, item in value.items()) + "}"
    return str(value)


@variants.command("diff")
@click.argument("first")
@click.argument("second")
@lang_option
@json_option
def variants_diff(first: str, second: str, lang: str, as_json: bool) -> None:
    """Say in rule words what differs between two variants."""
    from sim.variant import differences, load_variant

    one, two = load_variant(first), load_variant(second)
    sentences = differences(one, two, lang)
    if as_json:
        before, after = one.flat(), two.flat()
        keys = {key: [before[key], after[key]] for key in before if before[key] != after[key]}
        print_json({"first": first, "second": second, "keys": keys, "words": sentences})
        return
    same = {"en": "no difference in the rules", "zh": "两种规则没有差别"}[lang]
    for sentence in sentences or [same]:
        click.echo(sentence)


@variants.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@set_option
@lang_option
def variants_check(files: tuple[str, ...], overrides: tuple[str, ...], lang: str) -> None:
    """Validate variants, then play some games of each."""
    from sim.variant import VariantError, load_variant

    failed = False
    for file in files:
        try:
            variant = load_variant(file, overrides)
        except VariantError as error:
            failed = True
            for line in str(error).splitlines():
                say(line)
            continue
        games, draws = _play_some(variant)
        words = {
            "en": "{file}: valid; {games} games played, {draws} of them draw games",
            "zh": "{file}：有效；试打{games}局，其中荒庄{draws}局",
        }
        click.echo(words[lang].format(file=file, games=games, draws=draws))
    if failed:
        raise SystemExit(2)


def _play_some(variant: Any, games: int = 200) -> tuple[int, int]:
    """Play games of a variant and check what must hold in each; (games, draw games)."""
    from sim.engine import play_games
    from sim.params import compile_params
    from sim.rows import COLUMN, NULL

    rows = play_games(compile_params(variant), (0, 1, 1), seed=1, first=0, count=games)
    scores = sum(
        rows[:, COLUMN[f"score_{seat}"]] * (rows[:, COLUMN[f"score_{seat}"]] != NULL) for seat in range(4)
    )
    if scores.any():
        raise CheckFailedError(
            f"{variant.name}: transfers of game {int(scores.nonzero()[0][0])} do not sum to zero"
        )
    return games, int((rows[:, COLUMN["winner"]] == NULL).sum())


class CheckFailedError(Exception):
    """Something was found wrong; exit status 1."""


@variants.command("schema")
def variants_schema() -> None:
    """Print the JSON Schema of variant files."""
    from sim.variant import json_schema

    print_json(json_schema())


# --- the main job ------------------------------------------------------------------------------------


@app.command()
@click.argument("variant", nargs=-1, required=True, metavar="VARIANT...")
@click.option(
    "--games", type=click.IntRange(1, 10**12), default=100_000, show_default=True, help="Games a variant."
)
@until_option
@click.option(
    "--min-games", type=click.IntRange(1, 10**12), default=10_000, show_default=True, help="With --until."
)
@click.option(
    "--max-games", type=click.IntRange(1, 10**12), default=10_000_000, show_default=True, help="With --until."
)
@bots_option
@seed_option
@jobs_option
@click.option(
    "--session", type=click.IntRange(0, 10**6), default=0, help="Deals a session; 0: games stand alone."
)
@click.option("--chunk", type=click.IntRange(1, 10**7), default=None, help="Games a part file.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Run folder [default: results/…].")
@click.option("--resume", is_flag=True, help="Finish an interrupted run of the same folder.")
@click.option("--shard", metavar="I/N", default=None, help="Play the I-th of N shares only; see merge.")
@click.option("--strata", is_flag=True, help="Force the deals by wang strata; stores no games.")
@click.option("--replace", is_flag=True, help="Delete an earlier run in the folder first.")
@quiet_option
@set_option
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print the summary as CSV.")
@lang_option
def simulate(
    variant: tuple[str, ...],
    games: int,
    until: tuple[str, ...],
    min_games: int,
    max_games: int,
    bots: str,
    seed: int,
    jobs: int | None,
    session: int,
    chunk: int | None,
    out: Path | None,
    resume: bool,
    shard: str | None,
    strata: bool,
    replace: bool,
    quiet: bool,
    overrides: tuple[str, ...],
    as_json: bool,
    as_csv: bool,
    lang: str,
) -> None:
    """Play games of variants in parallel, keep them in a run folder, print the summary table."""
    if strata:
        _simulate_strata(
            variant, games, bots, seed, jobs, overrides, as_json, lang, until or session or resume or shard
        )
        return
    from sim.run import simulate as run_simulate
    from sim.variant import load_variant

    loaded = [load_variant(name, overrides) for name in variant]
    if until and shard:
        raise click.UsageError("--shard shares a fixed number of games: it goes without --until")
    size = "until-" + "-".join(until).replace("=", "-").replace("%", "pc") if until else f"{games}"
    folder = out or Path("results") / "-".join([*(item.name for item in loaded)][:4] + [size, f"s{seed}"])
    if shard and out is None:
        folder = folder.with_name(f"{folder.name}-shard-{shard.replace('/', '-of-')}")
    if replace and not resume:
        from sim.store import remove_run

        remove_run(folder)
    how: dict[str, Any] = {
        "bots": bots,
        "seed": seed,
        "jobs": jobs,
        "session": session,
        "chunk": chunk,
        "out": folder,
        "resume": resume,
        "quiet": quiet,
        "command": ["chehuzi", *sys.argv[1:]],
    }
    short: list[str] = []
    if until:
        from analysis.precision import run_until

        run, precision = run_until(loaded, until, minimum=min_games, maximum=max_games, lang=lang, **how)
        short = precision.shortfall(lang)
    else:
        run = run_simulate(loaded, games=games, shard=shard, **how)
    from analysis.summary import write_summary
    from analysis.tables import print_table, to_csv, to_json

    summary = write_summary(run)
    if as_json:
        click.echo(to_json(summary))
    elif as_csv:
        click.echo(to_csv(summary), nl=False)
    else:
        print_table(summary, lang)
        say({"en": f"stored in {folder}", "zh": f"已存入 {folder}"}[lang])
    if short:
        raise CheckFailedError("; ".join(short))


@app.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--sample", type=click.IntRange(0, 10**7), default=200, show_default=True, help="Games to play again."
)
@json_option
@lang_option
def verify(run: Path, sample: int, as_json: bool, lang: str) -> None:
    """Check a run folder: hashes, rows, transfers, wangs, the summary, and games played again.

    Exit status 1 if anything is not as it must be; each finding names the file.
    """
    from analysis.verify import verdict
    from analysis.verify import verify as verify_folder
    from sim.verify import as_json as plain

    result = verify_folder(run, sample)
    if as_json:
        print_json(plain(result))
    else:
        for line in verdict(result, lang):
            click.echo(line)
    if not result.ok:
        raise CheckFailedError(f"{run}: {len(result.findings)} findings")


@app.command()
@click.argument("shard", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SHARD...")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Run folder, new or empty.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the summary as CSV.")
@lang_option
def merge(shard: tuple[Path, ...], out: Path, as_csv: bool, lang: str) -> None:
    """Put the folders of `simulate --shard i/n` together: the run that one machine would have made."""
    from analysis.summary import write_summary
    from analysis.tables import print_table, to_csv
    from sim.merge import merge_runs

    summary = write_summary(merge_runs(shard, out))
    if as_csv:
        click.echo(to_csv(summary), nl=False)
    else:
        print_table(summary, lang)
        say({"en": f"stored in {out}", "zh": f"已存入 {out}"}[lang])


@app.command()
@click.option(
    "--games", type=click.IntRange(100, 10**9), default=1_000_000, show_default=True, help="A preset."
)
@click.option("--bots", default="greedy", show_default=True, help="One bot for all seats.")
@click.option("--strong", default="expert", show_default=True, help="The bot to check conclusions with.")
@jobs_option
@click.option("--out", type=click.Path(path_type=Path), default=Path("results/study"), show_default=True)
@click.option("--runs", type=click.Path(path_type=Path), default=Path("results/study-run"), show_default=True)
@quiet_option
def study(games: int, bots: str, strong: str, jobs: int | None, out: Path, runs: Path, quiet: bool) -> None:
    """Play the published study: presets, single keys changed, stronger players; tables, plots, pages."""
    from analysis.study import write_study

    written = write_study(out, runs, games, bots=bots, strong=strong, jobs=jobs, quiet=quiet)
    say(f"{len(written)} files in {out}")


def _simulate_strata(
    variants: Sequence[str],
    games: int,
    bots: str,
    seed: int,
    jobs: int | None,
    overrides: tuple[str, ...],
    as_json: bool,
    lang: str,
    other: object,
) -> None:
    """``simulate --strata``: the same estimates from forced deals, one variant after the other."""
    from analysis.strata import strata_command

    if other:
        raise click.UsageError(
            "--strata forces single deals: it goes without --until, --session and --resume"
        )
    if as_json and len(variants) > 1:
        raise click.UsageError("--strata --json takes one variant")
    for name in variants:
        status = strata_command(
            name, games, bots=bots, seed=seed, jobs=jobs, overrides=overrides, as_json=as_json, lang=lang
        )
        if status:
            raise SystemExit(status)


# --- one hand, one game ------------------------------------------------------------------------------


@app.command()
@click.argument("cards", required=False)
@click.option("--variant", "variant_name", default="two_wang", show_default=True, help="Preset or YAML file.")
@click.option("--against", default=None, metavar="VARIANT", help="The same hand under a second variant.")
@click.option("--table", "melds", multiple=True, metavar="KIND:CARDS", help="Exposed group, e.g. 碰:壹壹壹.")
@click.option("--win", "winning", default=None, metavar="CARD", help="The winning card.")
@click.option("--draw", type=click.Choice(["own", "other", "deal"]), default=None, help="Who drew it.")
@click.option("--all", "show_all", is_flag=True, help="Every arrangement, best first.")
@click.option("--batch", type=click.Path(path_type=Path), default=None, help="Answer a file of JSON lines.")
@click.option("--ascii", "use_ascii", is_flag=True, help="Write cards as s1 b2 w.")
@set_option
@json_option
@lang_option
def hand(
    cards: str | None,
    variant_name: str,
    against: str | None,
    melds: tuple[str, ...],
    winning: str | None,
    draw: str | None,
    show_all: bool,
    batch: Path | None,
    use_ascii: bool,
    overrides: tuple[str, ...],
    as_json: bool,
    lang: str,
) -> None:
    """One hand: its best win, every arrangement, its waits, or why it does not win."""
    from sim import handlab

    if batch is not None:
        answers = list(handlab.answer_batch(batch))
        for line, _ in answers:
            click.echo(line)
        wrong = sum(not good for _, good in answers)
        if wrong:
            say(
                f"chehuzi: {batch}: {wrong} of {len(answers)} queries make no sense; see 'error' in their answers"
            )
            raise SystemExit(2)
        return
    if cards is None:
        raise click.UsageError('cards are missing, e.g. chehuzi hand "一二三…" --win 玖 --draw own')
    names = [variant_name] if against is None else [variant_name, against]
    reports = [handlab.report(name, cards, melds, winning, draw, overrides, show_all) for name in names]
    if as_json:
        documents = [report.as_dict(use_ascii) for report in reports]
        print_json(documents[0] if against is None else dict(zip(names, documents, strict=True)))
        return
    handlab.print_reports(reports, lang, use_ascii)


def _read_range(text: str) -> tuple[int, int]:
    first, colon, last = text.partition(":")
    if not (colon and first.isdigit() and last.isdigit()) or len(text) > 40 or int(first) >= int(last):
        raise click.BadParameter("must be FIRST:LAST, the last excluded, e.g. 0:10", param_hint="--games")
    return int(first), int(last)


@app.command()
@click.argument("what", metavar="VARIANT|FILE.jsonl")
@click.option("--game", type=click.IntRange(0, 10**15), default=None, help="Number of the game.")
@click.option("--games", "span", default=None, metavar="FIRST:LAST", help="Games FIRST to LAST-1.")
@seed_option
@bots_option
@click.option("--session", type=click.IntRange(0, 10**6), default=0, help="Deals a session, as in the run.")
@click.option("--html", "page", type=click.Path(path_type=Path), default=None, help="Write one HTML page.")
@click.option("--step/--no-step", default=None, help="Step by step [default: on a terminal].")
@click.option("--check", "check_only", is_flag=True, help="Only say whether the log keeps the rules.")
@click.option("--ascii", "use_ascii", is_flag=True, help="Write cards as s1 b2 w.")
@click.option("--explain", is_flag=True, help="With every decision its options, their values and the reason.")
@click.option(
    "--what-if",
    type=click.IntRange(0, 10_000),
    default=None,
    metavar="STEP",
    help="Play the options of the decision at that step on: on this deck, and averaged over unseen cards.",
)
@click.option(
    "--option", type=click.IntRange(0, 100), default=None, help="With --what-if: this one, and its course."
)
@click.option(
    "--worlds",
    type=click.IntRange(20, 100_000),
    default=200,
    show_default=True,
    help="Imagined worlds a decision.",
)
@set_option
@json_option
@lang_option
def replay(
    what: str,
    game: int | None,
    span: str | None,
    seed: int,
    bots: str,
    session: int,
    page: Path | None,
    step: bool | None,
    check_only: bool,
    use_ascii: bool,
    explain: bool,
    what_if: int | None,
    option: int | None,
    worlds: int,
    overrides: tuple[str, ...],
    as_json: bool,
    lang: str,
) -> None:
    """Play games again and show every event; or read a game log, show it and say where it breaks a rule."""
    from sim.replay import replay_command

    if game is not None and span is not None:
        raise click.UsageError("--game and --games exclude each other")
    if check_only and (explain or what_if is not None):
        raise click.UsageError("--explain and --what-if go without --check")
    if what_if is not None and (explain or page is not None):
        raise click.UsageError("--what-if explains one decision, without --explain and --html")
    if option is not None and what_if is None:
        raise click.UsageError("--option chooses at a decision; say which with --what-if")
    wanted = None
    if span is not None:
        wanted = range(*_read_range(span))
    elif game is not None:
        wanted = range(game, game + 1)
    status = replay_command(
        what,
        wanted,
        seed=seed,
        bots=bots,
        session=session,
        overrides=overrides,
        page=page,
        step=step,
        check_only=check_only,
        ascii=use_ascii,
        explain=explain,
        what_if=what_if,
        option=option,
        worlds=worlds,
        as_json=as_json,
        lang=lang,
    )
    if status:
        raise SystemExit(status)


@app.command()
@click.argument("number", required=False)
@lang_option
@json_option
def rules(number: str | None, lang: str, as_json: bool) -> None:
    """Print the table of rules, or one rule in full by its NUMBER, e.g. 2.9."""
    from sim.rulebook import RULES

    chosen = [rule for rule in RULES if number in (None, rule.number)]
    if not chosen:
        numbers = "1.1 to 1.13, 2.1 to 2.13, 3.1 to 3.9, 4.1 to 4.10, 5.1 to 5.3"
        raise click.UsageError(f"no rule {number}; the numbers are {numbers}")
    if as_json:
        from dataclasses import asdict

        print_json([asdict(rule) for rule in chosen])
        return
    from analysis.tables import print_rule, print_rules

    if number is None:
        print_rules(RULES, lang)
    else:
        print_rule(chosen[0], lang)


@app.command()
@click.option(
    "--games", type=click.IntRange(100, 10**8), default=20_000, show_default=True, help="Games a figure."
)
@click.option(
    "--bots", default="greedy,random", show_default=True, help="Bots to measure, each in all seats."
)
@json_option
@lang_option
def bench(games: int, bots: str, as_json: bool, lang: str) -> None:
    """Games per second on one core by variant and bots, and one signature of fixed games."""
    from analysis import bench as benchmark
    from sim.players import player_name

    names = [player_name(name.strip()) for name in bots.split(",")]
    report = benchmark.bench(games, names)
    if as_json:
        print_json(report)
    else:
        benchmark.print_bench(report, lang)


# --- comparing and planning ----------------------------------------------------------------------------


@app.command()
@click.argument("variant", nargs=-1, required=True, metavar="VARIANT...|RUN")
@click.option(
    "--vary",
    multiple=True,
    metavar="KEY=V1,V2,…",
    help="One variant a value; several make a grid (repeatable).",
)
@click.option(
    "--games", type=click.IntRange(2, 10**12), default=100_000, show_default=True, help="Deals to compare on."
)
@click.option("--metric", "metrics", multiple=True, metavar="KEY", help="Only these metrics (repeatable).")
@click.option(
    "--against",
    type=click.Choice(["first", "all"]),
    default="first",
    show_default=True,
    help="Pairs to compare.",
)
@click.option(
    "--margin", "margins", multiple=True, metavar="METRIC=δ", help="Test equivalence within ± δ (repeatable)."
)
@level_option
@bots_option
@seed_option
@jobs_option
@click.option(
    "--session", type=click.IntRange(0, 10**6), default=0, help="Deals a session; 0: games stand alone."
)
@click.option("--chunk", type=click.IntRange(1, 10**7), default=None, help="Games a part file.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=None, help="Keep the games in this run folder."
)
@click.option("--resume", is_flag=True, help="Finish the run of that folder, or compare it again.")
@quiet_option
@click.option("--words", is_flag=True, help="A sentence for every difference found, not only the main ones.")
@click.option(
    "--bots-matrix",
    "matrix",
    is_flag=False,
    flag_value="all",
    default=None,
    metavar="[MIXES]",
    help="Ask each claim again under every bot mix; or under these, e.g. 'random greedy,random,random'.",
)
@set_option
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print one row a pair and metric as CSV.")
@lang_option
def compare(
    variant: tuple[str, ...],
    vary: tuple[str, ...],
    metrics: tuple[str, ...],
    against: Any,
    margins: tuple[str, ...],
    level: float,
    words: bool,
    matrix: str | None,
    overrides: tuple[str, ...],
    as_json: bool,
    as_csv: bool,
    lang: str,
    **how: Any,
) -> None:
    """Play the same deals under every variant; paired differences of every metric, and verdicts in words."""
    from analysis import compare as comparing
    from analysis.compare_words import comparison_json, print_comparison
    from analysis.honesty import check_run
    from analysis.tables import to_csv

    comparing.check_wishes(metrics, margins)
    if matrix is not None:
        if margins:
            raise click.UsageError("--bots-matrix goes without --margin")
        output = "json" if as_json else "csv" if as_csv else "words" if words else "table"
        what = {"metrics": metrics or None, "against": against, "level": level}
        _compare_matrix(variant, vary, overrides, matrix, output, lang, {**what, **how})
        return
    run, names = comparing.play_or_open(variant, overrides, vary, command=["chehuzi", *sys.argv[1:]], **how)
    found = comparing.compare_run(run, metrics=metrics or None, against=against, level=level, margins=margins)
    honesty = check_run(run)
    manifest = run.manifest
    if as_json:
        facts = {
            "games": manifest.games,
            "bots": list(manifest.bots),
            "session": manifest.session,
            "names": names,
        }
        findings = [finding.text.en for finding in honesty.findings]
        click.echo(comparison_json(found, facts | {"findings": findings}))
    elif as_csv:
        click.echo(to_csv(found), nl=False)
    else:
        bots = (
            ",".join(dict.fromkeys(manifest.bots))
            if len(set(manifest.bots)) == 1
            else ",".join(manifest.bots)
        )
        facts_line = {"en": f"Bots {bots}; ", "zh": f"机器人 {bots}；"}[lang]
        print_comparison(found, lang, names, [facts_line + text[lang] for text in honesty.checked], words)
    if not honesty.ok:
        raise CheckFailedError("; ".join(finding.text[lang] for finding in honesty.findings))


def _compare_matrix(
    variants: Sequence[str],
    vary: Sequence[str],
    overrides: Sequence[str],
    mixes: str,
    output: str,
    lang: str,
    how: dict[str, Any],
) -> None:
    """``compare --bots-matrix``: the comparison under every mix, and what holds in how many."""
    from analysis import compare as comparing
    from analysis.matrix import compare_matrix, parse_mixes
    from analysis.matrix_words import document, print_matrix, write_matrix
    from analysis.tables import to_csv

    if len(variants) == 1 and (Path(variants[0]) / "manifest.json").is_file():
        raise click.UsageError(f"{variants[0]} is a run of one mix; --bots-matrix plays: name variants")
    wanted = parse_mixes(mixes, how.pop("bots"))
    loaded, names = comparing.grid(variants, overrides, vary)
    found = compare_matrix(loaded, wanted, names=names, command=["chehuzi", *sys.argv[1:]], **how)
    if how["out"] is not None:
        write_matrix(found, how["out"], lang)
    if output == "json":
        print_json(document(found))
    elif output == "csv":
        click.echo(to_csv(found.long), nl=False)
    else:
        print_matrix(found, lang, everything=output == "words")
        if how["out"] is not None:
            say({"en": f"stored in {how['out']}", "zh": f"已存入 {how['out']}"}[lang])
    if found.findings:
        raise CheckFailedError("; ".join(finding.text[lang] for finding in found.findings))


@app.command()
@click.argument("variant", nargs=-1, required=True, metavar="VARIANT...")
@until_option
@click.option(
    "--pilot", type=click.IntRange(100, 10**8), default=10_000, show_default=True, help="Games to judge by."
)
@level_option
@bots_option
@seed_option
@jobs_option
@click.option(
    "--session", type=click.IntRange(0, 10**6), default=0, help="Deals a session; 0: games stand alone."
)
@set_option
@json_option
@lang_option
def plan(
    variant: tuple[str, ...],
    until: tuple[str, ...],
    overrides: tuple[str, ...],
    as_json: bool,
    lang: str,
    **how: Any,
) -> None:
    """Play a pilot run; say how many games, and how long, the widths of --until will take."""
    from analysis.precision import plan as make_plan
    from analysis.precision import plan_json, plan_lines
    from sim.variant import load_variant

    if not until:
        raise click.UsageError("--until is missing, e.g. chehuzi plan four_wang --until draw_rate=0.002")
    found = make_plan([load_variant(name, overrides) for name in variant], until, **how)
    if as_json:
        print_json(plan_json(found))
        return
    for line in plan_lines(found, lang):
        click.echo(line)


# --- bots ------------------------------------------------------------------------------------------


def _ladder() -> str:
    from analysis.seatings import ladder

    return ",".join(ladder())


@app.command()
@click.argument("variant", nargs=-1, required=True, metavar="VARIANT...")
@click.option(
    "--bots",
    default=_ladder,
    show_default="the ladder",
    metavar="A,B,…",
    help="From the weakest to the strongest; neighbours are the steps.",
)
@click.option(
    "--games",
    type=click.IntRange(2, 10**9),
    default=10_000,
    show_default=True,
    help="Deals, each played in every seating.",
)
@click.option(
    "--design",
    type=click.Choice(["auto", "triples", "pairs", "steps"]),
    default="auto",
    show_default=True,
    help="Seatings: all triples; every pair, one against two and two against one; or neighbours only.",
)
@level_option
@seed_option
@jobs_as_needed_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="Folder for results and plot; what is begun there goes on [default: results/tournament-…].",
)
@quiet_option
@set_option
@json_option
@lang_option
def tournament(
    variant: tuple[str, ...],
    bots: str,
    games: int,
    design: Any,
    seed: int,
    out: Path | None,
    overrides: tuple[str, ...],
    as_json: bool,
    lang: str,
    **how: Any,
) -> None:
    """Let bots meet in every seating of the same deals: scores, wins, ratings, style, steps of the ladder.

    \b
    chehuzi tournament four_wang --bots random,greedy --games 5000 --out results/ladder
    """
    from analysis.seatings import default_folder
    from analysis.tournament import plan_tournament, play_tournament
    from analysis.tournament_words import document, print_tournament, write_tournament

    plan, chosen = plan_tournament(variant, bots, games, design=design, seed=seed, overrides=overrides)
    folder = out or default_folder(plan)
    found = play_tournament(plan, chosen, out=folder, **how)
    write_tournament(found, folder, lang)
    if as_json:
        print_json(document(found))
        return
    print_tournament(found, lang)
    say({"en": f"stored in {folder}", "zh": f"已存入 {folder}"}[lang])


@app.command()
@click.argument("variant", nargs=-1, required=True, metavar="VARIANT...")
@click.option(
    "--bots",
    default=None,
    show_default="greedy and the best of the ladder",
    metavar="A,B,…",
    help="Two to four bots; shares are relative to how far they differ.",
)
@click.option(
    "--games",
    type=click.IntRange(100, 10**9),
    default=5_000,
    show_default=True,
    help="Deals, each played with every assignment of the bots: 8, 27 or 64 times.",
)
@level_option
@seed_option
@jobs_as_needed_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="Folder for results and plot; what is begun there goes on [default: results/skill-…].",
)
@quiet_option
@set_option
@json_option
@lang_option
def skill(
    variant: tuple[str, ...],
    bots: str | None,
    games: int,
    seed: int,
    out: Path | None,
    overrides: tuple[str, ...],
    as_json: bool,
    lang: str,
    **how: Any,
) -> None:
    """Skill and luck: shares of the variance of scores by deal, seat and bots; which variant rewards skill more.

    \b
    chehuzi skill two_wang four_wang --bots random,greedy --games 2000
    """
    from analysis.seatings import default_folder
    from analysis.skill import plan_skill, play_skill
    from analysis.skill_words import document, print_skill, write_skill

    plan = plan_skill(variant, bots, games, seed=seed, overrides=overrides)
    folder = out or default_folder(plan)
    found = play_skill(plan, out=folder, **how)
    write_skill(found, folder, lang)
    if as_json:
        print_json(document(found))
        return
    print_skill(found, lang)
    say({"en": f"stored in {folder}", "zh": f"已存入 {folder}"}[lang])


# --- strata, rare events, decisions ------------------------------------------------------------------


def play_options(function: F) -> F:
    """``--bots``, ``--seed`` and ``--jobs`` of commands that play without a run folder."""
    for option in (
        jobs_as_needed_option,
        seed_option,
        bots_option,
    ):
        function = option(function)
    return function


@app.command()
@click.argument("what", metavar="VARIANT|RUN")
@click.option("--games", type=click.IntRange(1, 10**10), default=100_000, show_default=True)
@click.option(
    "--metric", "metrics", multiple=True, help="Estimate this, and spread the games for it (repeatable)."
)
@click.option("--level", type=click.FloatRange(0, 1, True, True), default=0.95, show_default=True)
@play_options
@set_option
@json_option
@lang_option
def strata(what: str, games: int, metrics: tuple[str, ...], **options: Any) -> None:
    """Force the deals by where the wangs fall, with exact weights; or weight a stored plain run by them."""
    from analysis.strata import strata_command

    raise SystemExit(strata_command(what, games, metrics=metrics, **options))


@app.command()
@click.argument("variant")
@click.argument("event")
@click.option("--games", type=click.IntRange(1, 10**10), default=100_000, show_default=True)
@click.option(
    "--method",
    type=click.Choice(["auto", "plain", "strata", "split"]),
    default="auto",
    show_default=True,
    help="How; auto takes splitting for what a pilot by strata hardly sees.",
)
@click.option("--level", type=click.FloatRange(0, 1, True, True), default=0.95, show_default=True)
@play_options
@set_option
@json_option
@lang_option
def rare(variant: str, event: str, games: int, **options: Any) -> None:
    """How rare an event is: "1 in N" with its interval, from few games.

    \b
    chehuzi rare four_wang wang_zha_wang
    chehuzi rare four_wang "fan >= 64 and not red"
    """
    from analysis.rare import rare_command

    raise SystemExit(rare_command(variant, event, games, **options))


@app.command("decide")
@click.argument("variant")
@click.argument("question", metavar='"METRIC > NUMBER"')
@click.option(
    "--alpha",
    type=click.FloatRange(0, 0.5, True, True),
    default=0.01,
    show_default=True,
    help="Chance of a wrong verdict, however often one looks.",
)
@click.option(
    "--max",
    "most",
    type=click.IntRange(2_000, 10**9),
    default=1_000_000,
    show_default=True,
    help="Games at most.",
)
@play_options
@set_option
@json_option
@lang_option
def decide_question(variant: str, question: str, **options: Any) -> None:
    """Play until it is decided whether a metric is above or below a bound; exit 1 if it stays undecided.

    \b
    chehuzi decide four_wang "draw_rate > 0.15" --alpha 0.01
    """
    from analysis.sequential import decide_command

    raise SystemExit(decide_command(variant, question, **options))


# --- auditing and real games ---------------------------------------------------------------------------


@app.command()
@click.argument("variant")
@click.option(
    "--games",
    type=click.IntRange(0, 10**8),
    default=10_000,
    show_default=True,
    help="Deals a bot; 0: the rules only.",
)
@click.option("--bots", default=None, help="Bots, separated by commas [default: all compiled ones].")
@click.option(
    "--pay-table",
    default="text",
    show_default=True,
    metavar="text|none|FILE",
    help="What wins are said to pay: the rule text, nothing, or a YAML file.",
)
@seed_option
@jobs_as_needed_option
@click.option("--strict", is_flag=True, help="Exit 1 on any finding above a note.")
@set_option
@json_option
@lang_option
def audit(variant: str, games: int, **options: Any) -> None:
    """Rules that cannot fire, limits that never bind, contradictions; what never happens or matters in play.

    \b
    chehuzi audit four_wang
    chehuzi audit my_room.yaml --games 0 --strict
    """
    from analysis.audit import audit_command

    raise SystemExit(audit_command(variant, games, **options))


# --- tuning --------------------------------------------------------------------------------------------


@app.command()
@click.argument("what", metavar="SPEC.yaml|CERTIFICATE.json", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), default=None, help="Folder [default: results/tune-…]."
)
@click.option("--resume", is_flag=True, help="Go on with the tuning of that folder.")
@click.option("--check", "check_only", is_flag=True, help="Check a certificate by playing its games again.")
@click.option(
    "--seed", type=click.IntRange(0, 2**64 - 1), default=None, help="With --check: other deals instead."
)
@jobs_option
@quiet_option
@json_option
@lang_option
def tune(
    what: Path,
    out: Path | None,
    resume: bool,
    check_only: bool,
    seed: int | None,
    jobs: int | None,
    quiet: bool,
    as_json: bool,
    lang: str,
) -> None:
    """Search rule settings for targets; certify the best on fresh deals. Exit 1 if the targets are not met.

    \b
    chehuzi tune docs/examples/tune_draw_rate.yaml --out results/tune
    chehuzi tune --check results/tune/certificate.json
    """
    from analysis import tune as tuning
    from analysis.tune_words import lines

    if check_only:
        if out is not None or resume:
            raise click.UsageError("--check takes a certificate only, no --out and no --resume")
        found = tuning.check(what, seed=seed, jobs=jobs, quiet=quiet)
        place = 0 if lang == "en" else 1
        if as_json:
            print_json({"ok": found.ok, "findings": found.findings, "notes": found.notes})
        else:
            for note in found.notes:
                click.echo(note[place])
        if not found.ok:
            raise CheckFailedError("; ".join(finding[place] for finding in found.findings))
        return
    if seed is not None:
        raise click.UsageError("--seed goes with --check; the seed of a tuning stands in its spec")
    folder = out or Path("results") / f"tune-{what.stem}"
    document = tuning.tune(
        what, folder, jobs=jobs, resume=resume, quiet=quiet, told=None if quiet or as_json else say
    )
    if as_json:
        print_json(document)
    else:
        for line in lines(document, lang):
            click.echo(line)
        say({"en": f"certificate in {folder}", "zh": f"证书在 {folder}"}[lang])
    if document["verdict"] != "met":
        raise SystemExit(1)


@app.group()
def logs() -> None:
    """Records of real games: compare them with a variant, or make synthetic ones."""


@logs.command("compare")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--variant", required=True, help="Preset or YAML file that was played.")
@click.option(
    "--mapping", type=click.Path(path_type=Path), default=None, help="YAML: how the columns are called."
)
@click.option("--bots", multiple=True, help="One bot, or dealer,next,third (repeatable) [default: greedy].")
@click.option(
    "--games",
    type=click.IntRange(0, 10**8),
    default=50_000,
    show_default=True,
    help="Games to simulate a mix of bots; 0: check the dealing only.",
)
@seed_option
@jobs_as_needed_option
@click.option(
    "--alpha",
    type=click.FloatRange(0, 0.5, True, True),
    default=0.01,
    show_default=True,
    help="Chance of flagging a question where nothing differs.",
)
@click.option("--full", is_flag=True, help="Show the frequencies that agree too.")
@click.option("--strict", is_flag=True, help="Exit 1 if the dealing, or play under every mix, is flagged.")
@set_option
@json_option
@lang_option
def logs_compare(file: Path, variant: str, **options: Any) -> None:
    """Real games (CSV, JSON lines, game logs) against a variant: dealing, frequencies, choices.

    \b
    chehuzi logs compare room.csv --variant four_wang --mapping room.yaml
    """
    from analysis.reality import compare_command

    raise SystemExit(compare_command(file, variant, **options))


@logs.command("synthesise")
@click.argument("variant")
@click.option("--games", type=click.IntRange(1, 10**6), default=1_000, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=None, help="File [default: stdout].")
@click.option(
    "--format", "kind", type=click.Choice(["csv", "jsonl", "log"]), default="csv", show_default=True
)
@bots_option
@seed_option
@click.option(
    "--plant",
    "plants",
    multiple=True,
    metavar="KIND=AMOUNT",
    help="Plant a bias: dealer_wangs, seat_wangs or missing_draws (repeatable).",
)
@set_option
def logs_synthesise(variant: str, games: int, **options: Any) -> None:
    """Write records of games of bots, with a planted bias if wanted, to try `logs compare`."""
    from analysis.reality_synth import synthesise_command

    raise SystemExit(synthesise_command(variant, games, **options))


def effect_options(function: F) -> F:
    """What ``sensitivity`` and ``value`` have in common."""
    for option in (
        click.option("--out", type=click.Path(path_type=Path), default=None, help="Folder for plots."),
        level_option,
        click.option("--metric", "metrics", multiple=True, metavar="KEY", help="Only these (repeatable)."),
        click.option("--games", type=click.IntRange(1000, 10**8), default=10_000, show_default=True),
    ):
        function = option(function)
    return function


def _show_effects(document: dict[str, Any], out: Path | None, as_json: bool, lang: str) -> None:
    from analysis.sensitivity import draw_plots, effect_lines

    if as_json:
        print_json(document)
    else:
        for line in effect_lines(document, lang):
            click.echo(line)
    if out is not None:
        for path in draw_plots(document, out, lang):
            say(str(path))


@app.command("sensitivity")
@click.argument("variant")
@click.option("--vary", multiple=True, required=True, metavar="KEY=V1,V2,…|KEY=10..21", help="Repeatable.")
@click.option(
    "--method", type=click.Choice(["auto", "factorial", "morris", "sobol"]), default="auto", show_default=True
)
@click.option("--samples", type=click.IntRange(2, 4096), default=16, show_default=True, help="Morris, Sobol.")
@effect_options
@play_options
@set_option
@json_option
@lang_option
def sensitivity_of(
    variant: str, vary: tuple[str, ...], out: Path | None, as_json: bool, lang: str, **how: Any
) -> None:
    """Which keys matter for which metric: main effects and interactions on the same deals."""
    from analysis.sensitivity import sensitivity

    _show_effects(sensitivity(variant, vary, **how), out, as_json, lang)


@app.command("value")
@click.argument("variant")
@click.option("--key", "pattern", default="*", show_default=True, metavar="KEY", help="Keys, e.g. 'fan.*'.")
@effect_options
@play_options
@set_option
@json_option
@lang_option
def value_of(variant: str, out: Path | None, as_json: bool, lang: str, **how: Any) -> None:
    """Value of each rule: what switching a single key to each of its other values changes, paired."""
    from analysis.sensitivity import value_of_rules

    _show_effects(value_of_rules(variant, **how), out, as_json, lang)


@app.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="File .html, or folder [default: RUN-report.html].",
)
@click.option(
    "--lang", type=click.Choice(["both", "en", "zh"]), default="both", show_default=True, help="Languages."
)
@click.option("--question", default=None, metavar="TEXT", help="What was asked, to stand at the head.")
@level_option
def report(runs: tuple[Path, ...], out: Path | None, lang: str, question: str | None, level: float) -> None:
    """Write one HTML page about finished runs, for a meeting; Markdown and CSV beside it."""
    from analysis.report import write_report

    command = ["chehuzi", *sys.argv[1:]]
    for path in write_report(runs, out, lang, question, level, command):
        click.echo(str(path))


# --- entry -------------------------------------------------------------------------------------------


def _errors() -> tuple[type[BaseException], ...]:
    """Error classes whose message is for the user; only of modules that are loaded."""
    found: list[type[BaseException]] = []
    for module, name in (
        ("sim.variant", "VariantError"),
        ("sim.cards", "CardError"),
        ("sim.bots", "BotError"),
        ("sim.explain", "QueryError"),
        ("sim.logread", "LogError"),
        ("sim.whatif", "WhatIfError"),
        ("analysis.load", "LoadError"),
        ("analysis.metrics", "MetricError"),
        ("analysis.events", "EventError"),
        ("analysis.strata", "StrataError"),
        ("analysis.rare", "RareError"),
        ("analysis.sequential", "DecideError"),
        ("analysis.audit_rules", "AuditError"),
        ("analysis.tune_search", "TuneError"),
        ("analysis.sensitivity", "SensitivityError"),
        ("analysis.reality_read", "RecordError"),
    ):
        if module in sys.modules:
            found.append(getattr(sys.modules[module], name))
    return tuple(found)


def _plain(text: object) -> str:
    """One line without control characters, whatever a file or an argument put into a message."""
    return "".join(char if char.isprintable() else "?" for char in " ".join(str(text).splitlines()))


def _is_unreadable(error: BaseException) -> bool:
    """Whether polars could not read a file; its panics are no ``Exception``."""
    polars = sys.modules.get("polars")
    panics = type(error).__name__ == "PanicException"
    return polars is not None and (panics or isinstance(error, polars.exceptions.PolarsError))


FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""The work failed; the input was not bad."""


def _report(error: BaseException) -> int:
    """One clear line for an error; the exit status."""
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
        click.echo(error.ctx.get_help())  # type: ignore[attr-defined]
        return 0
    if isinstance(error, click.ClickException):
        say(f"chehuzi: {_plain(error.format_message())}")
        return 2
    if isinstance(error, click.Abort | KeyboardInterrupt):
        import signal

        signal.signal(
            signal.SIGINT, signal.SIG_IGN
        )  # the folder is in order; a second Ctrl-C changes nothing
        text = str(error)
        say(f"chehuzi: {text or 'stopped'}")
        return 130
    store = sys.modules.get("sim.store")
    if isinstance(error, CheckFailedError) or (store is not None and isinstance(error, store.RunError)):
        say(f"chehuzi: {error}")
        return int(getattr(error, "status", 1))
    if isinstance(error, _errors()):
        for line in str(error).splitlines():
            say(f"chehuzi: {_plain(line)}")
        return 2
    if _is_unreadable(error):
        say(
            f"chehuzi: a file of game rows cannot be read ({_plain(error)[:200]}); chehuzi verify RUN names it"
        )
        return 2
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        say(f"chehuzi: {_plain(f'{where}{error.strerror or error}')}")
        return 1 if error.errno in FULL_DISK else 2
    raise error


def main(args: Sequence[str] | None = None) -> None:
    """Entry point of the command ``chehuzi``."""
    try:
        app.main(args=list(args) if args is not None else None, prog_name="chehuzi", standalone_mode=False)
        sys.stdout.flush()
    except SystemExit:
        raise
    except BaseException as error:
        raise SystemExit(_report(error)) from None


if __name__ == "__main__":
    main()
