"""A user's own bot in plain Python: ``path/to/my_bot.py:MyBot``, a class with ``choose(view, options)``.

It is given what its seat knows as plain values, not the table, and the legal options; what it returns is checked.
Whatever goes wrong is named: file, class, game, decision.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import random
import sys
import traceback
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sim.bots import BotError
from sim.bots.decisions import D_CHI, D_DISCARD, D_WIN, DECISION_NAMES, PASS, TAKE
from sim.bots.view import View, view_of
from sim.cards import FACES, KINDS, NO_CARD, RANKS, WANG, show_cards
from sim.engine import PH_BEFORE, PH_HEAVEN
from sim.groups import GROUP_KINDS, PAO, PENG, TYPE_NAMES
from sim.params import Params
from sim.state import (
    CARD,
    CHI_BLOCK,
    DEALER,
    DECIDER,
    DECISION,
    DECISIONS,
    END,
    HUXI,
    N_OPTIONS,
    N_SEATS,
    ON_DRAW,
    OWNED,
    P_ACTIVE,
    P_CONCEALED,
    P_DEAD,
    P_DISCARDS,
    P_MELDS,
    P_PASSED,
    P_WANGS,
    PENG_BLOCK,
    PHASE,
    QUADS,
    SITTER,
    SOURCE,
    TOP,
    W_FAN,
    W_HUXI,
    W_SCORE,
    W_TUN,
    WORD_A,
    WORD_B,
    Table,
)

DIGEST = 12
"""Hex digits of a file's hash in the name of a bot."""

MAX_SOURCE = 4 << 20
_SHOWN = 80  # characters of a wrong choice that are shown


class OwnBotError(BotError):
    """A user's bot that cannot be loaded, or that failed or chose what it may not; one line."""


# --- what a bot is given ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OpenGroup:
    """A group laid down, as the deciding seat sees it."""

    type: str
    """ti, pao, wei, peng, run, jiao, one_two_three or two_seven_ten."""
    cards: str
    """Faces; empty for a group of another seat that lies face down."""
    huxi: int | None
    """None where the cards are not seen."""


@dataclass(frozen=True)
class OtherSeat:
    """What everybody can see of a seat."""

    seat: int
    concealed: int
    """Number of its concealed cards."""
    groups: tuple[OpenGroup, ...]
    wangs: int
    """Wangs that it drew openly; dealt ones are not seen."""
    discarded: frozenset[str]
    """Kinds that it has discarded."""
    passed: frozenset[str]
    """Kinds that it let go by when it was asked for a chi."""
    dead: bool
    """Whether its hand is dead (2.8)."""


@dataclass(frozen=True)
class SeatView:
    """All that the deciding seat knows; plain values, cards by their faces ``一``…``拾`` and ``王``."""

    decision: str
    """win, peng, chi or discard."""
    seat: int
    dealer: int
    sitter: int | None
    order: tuple[int, ...]
    """Active seats in turn order, the own first."""
    hand: str
    """Own concealed cards, sorted, wangs last."""
    groups: tuple[OpenGroup, ...]
    """Own groups laid down."""
    huxi: int
    """Of the own groups laid down."""
    quads: int
    """Own ti and pao."""
    owned: int
    """Own cards, concealed and exposed."""
    chi_blocked: frozenset[str]
    """Kinds that this seat may not chi any more (2.10)."""
    peng_blocked: frozenset[str]
    others: Mapping[int, OtherSeat]
    """The two other active seats."""
    seen: Mapping[str, int]
    """Cards of each kind that lie face up: dead, discarded or in open groups; of 王 those drawn openly."""
    hidden: Mapping[str, int]
    """Cards of each kind whose place the seat does not know: in other hands, face down, or in the wall."""
    wall: int
    """Cards left in the wall."""
    card: str | None
    """The card that the decision is about; None for a discard and a heavenly win."""
    source: int | None
    """The seat that drew or discarded it."""
    drawn: bool
    """Whether it was drawn, not discarded."""
    number: int
    """Decisions of this seat before this one."""
    rules: Mapping[str, Any]
    """Every dotted key of the variant with its value."""
    random: random.Random = field(repr=False, compare=False)
    """Seeded by seed, game, seat and decision: use this and games can be played again."""

    def held(self, card: str) -> int:
        """Own concealed cards of a kind."""
        return self.hand.count(card)


@dataclass(frozen=True)
class Option:
    """Something that the seat may do now."""

    kind: str
    """win, peng, chi, discard or pass."""
    card: str | None = None
    """The card taken, passed or discarded."""
    groups: tuple[str, ...] = ()
    """Of a chi: the groups laid down, each with the card; the claimed card counts once."""
    huxi: int | None = None
    """Of a win, as are the following."""
    tun: int | None = None
    fan: int | None = None
    score: int | None = None
    """tun × fan."""
    choice: int = field(default=0, repr=False, compare=False)

    def __str__(self) -> str:
        """``chi 五: 三四五``."""
        text = self.kind if self.card is None else f"{self.kind} {self.card}"
        return f"{text}: {' '.join(self.groups)}" if self.groups else text


def _faces(mask: int) -> frozenset[str]:
    return frozenset(FACES[kind] for kind in range(KINDS) if mask >> kind & 1)


def _group(p: Params, group_type: int, what: int) -> OpenGroup:
    if what < 0:
        return OpenGroup(TYPE_NAMES[group_type], "", None)
    if group_type <= PENG:
        cards = FACES[what] * (4 if group_type <= PAO else 3)
        return OpenGroup(TYPE_NAMES[group_type], cards, int(p.huxi[group_type, what // RANKS]))
    cards = show_cards(int(kind) for kind in GROUP_KINDS[what])
    return OpenGroup(TYPE_NAMES[group_type], cards, int(p.group_huxi[what]))


def _hidden(p: Params, view: View, seat: int) -> dict[str, int]:
    """Cards whose place the seat does not know, by face."""
    game, public = view.game, view.public
    left = [4 - int(view.seen[kind]) - int(view.hand[kind]) for kind in range(KINDS)]
    for number in range(int(public[seat, P_MELDS])):
        if view.shown[seat, number, 1] < 0:
            left[int(view.melds[number, 1])] -= 4 if view.melds[number, 0] <= PAO else 3
    if game[DECISION] == D_WIN and game[PHASE] == PH_BEFORE:
        left[int(game[CARD])] -= 1
    shown = sum(int(public[other, P_WANGS]) for other in range(int(game[N_SEATS])) if other != seat)
    left.append(int(p.wangs) - int(view.hand[WANG]) - shown)
    return {FACES[kind]: count for kind, count in enumerate(left)}


def _other(p: Params, view: View, seat: int) -> OtherSeat:
    public = view.public[seat]
    return OtherSeat(
        seat,
        int(public[P_CONCEALED]),
        tuple(
            _group(p, int(view.shown[seat, number, 0]), int(view.shown[seat, number, 1]))
            for number in range(int(public[P_MELDS]))
        ),
        int(public[P_WANGS]),
        _faces(int(public[P_DISCARDS])),
        _faces(int(public[P_PASSED])),
        bool(public[P_DEAD]),
    )


def _card_of(view: View) -> int:
    """The card that the decision is about, -1 if there is none."""
    is_about = view.game[DECISION] != D_DISCARD and view.game[PHASE] != PH_HEAVEN
    return int(view.game[CARD]) if is_about else NO_CARD


def seat_view(p: Params, rules: Mapping[str, Any], t: Table) -> SeatView:
    """What the seat that decides now knows, copied out of the table."""
    view = view_of(t)
    game, row, seat = view.game, view.seat, int(t.game[DECIDER])
    seats = int(game[N_SEATS])
    order = [(seat + step) % seats for step in range(seats)]
    order = [other for other in order if view.public[other, P_ACTIVE]]
    card = _card_of(view)
    words = (int(row[WORD_A]), int(row[WORD_B]), int(row[DECISIONS]))
    return SeatView(
        decision=DECISION_NAMES[int(game[DECISION])],
        seat=seat,
        dealer=int(game[DEALER]),
        sitter=int(game[SITTER]) if game[SITTER] >= 0 else None,
        order=tuple(order),
        hand="".join(FACES[kind] * int(view.hand[kind]) for kind in range(KINDS + 1)),
        groups=tuple(
            _group(p, int(view.melds[number, 0]), int(view.melds[number, 1]))
            for number in range(int(view.public[seat, P_MELDS]))
        ),
        huxi=int(row[HUXI]),
        quads=int(row[QUADS]),
        owned=int(row[OWNED]),
        chi_blocked=_faces(int(row[CHI_BLOCK])),
        peng_blocked=_faces(int(row[PENG_BLOCK])),
        others=MappingProxyType({other: _other(p, view, other) for other in order[1:]}),
        seen=MappingProxyType({FACES[kind]: int(view.seen[kind]) for kind in range(KINDS + 1)}),
        hidden=MappingProxyType(_hidden(p, view, seat)),
        wall=int(game[END]) - int(game[TOP]),
        card=None if card == NO_CARD else FACES[card],
        source=None if card == NO_CARD else int(game[SOURCE]),
        drawn=card != NO_CARD and bool(game[ON_DRAW]),
        number=words[2],
        rules=rules,
        random=random.Random(f"{words}"),
    )


def options_of(t: Table) -> tuple[Option, ...]:
    """The legal options of the pending decision; passing, where one may, comes first."""
    view = view_of(t)
    decision, card = int(view.game[DECISION]), _card_of(view)
    face = None if card == NO_CARD else FACES[card]
    if decision == D_DISCARD:
        free = [kind for kind in range(KINDS) if 0 < view.hand[kind] <= 2]
        return tuple(Option("discard", FACES[kind], choice=kind) for kind in free)
    passing = Option("pass", face, choice=PASS)
    if decision == D_WIN:
        huxi, tun, fan, score = (int(view.win[at]) for at in (W_HUXI, W_TUN, W_FAN, W_SCORE))
        return passing, Option("win", face, (), huxi, tun, fan, score, choice=TAKE)
    if decision == D_CHI:
        options = [passing]
        for number in range(int(view.game[N_OPTIONS])):
            groups = [int(group) for group in view.options[number, 1 : 1 + int(view.options[number, 0])]]
            texts = tuple(show_cards(int(kind) for kind in GROUP_KINDS[group]) for group in groups)
            options.append(Option("chi", face, texts, choice=1 + number))
        return tuple(options)
    return passing, Option("peng", face, choice=TAKE)


# --- loading ------------------------------------------------------------------------------------------------


def _line(text: object) -> str:
    """Foreign text as one printable line."""
    return "".join(char if char.isprintable() else " " for char in str(text)).strip()


def is_own_bot(name: str) -> bool:
    """Whether a name of ``--bots`` is that of a file."""
    return name.partition("@")[0].endswith(".py") or ".py:" in name


def _parse(name: str) -> tuple[str, str, str]:
    """File, class and digest of a name; the latter may be empty."""
    plain, at, digest = name.rpartition("@")
    if not at or len(digest) != DIGEST:
        plain, digest = name, ""
    path, colon, cls = plain.rpartition(":")
    if not colon or not path.endswith(".py"):
        path, cls = plain, ""
    return path, cls, digest


def _where(error: BaseException, path: str) -> str:
    """``(line 12)``: the last line of the user's file that the error passed through."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    if isinstance(error, SyntaxError) and error.filename == path:
        lines.append(error.lineno)
    return f" (line {lines[-1]})" if lines and lines[-1] else ""


def _failure(error: BaseException, path: str) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {_line(text)[:200]}{_where(error, path)}"


def load_bot(name: str) -> tuple[str, type[Any]]:
    """The class behind a name, and the name with the digest of its file.

    Parameters
    ----------
    name : str
        ``path.py:Class``, or with the digest that the file must have: ``path.py:Class@0123456789ab``.

    Raises
    ------
    OwnBotError
        If the file cannot be read or run, has changed, or has no such class.
    """
    path, cls, digest = _parse(name)
    try:
        with Path(path).open("rb") as stream:
            source = stream.read(MAX_SOURCE)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OwnBotError(f"--bots: cannot read {path}: {reason}") from None
    found = hashlib.sha256(source).hexdigest()[:DIGEST]
    if digest and digest != found:
        raise OwnBotError(f"--bots: {path} has changed: its digest is {found}, not {digest}")
    module = types.ModuleType(f"chehuzi_bot_{found}")
    module.__file__ = path
    sys.modules[module.__name__] = module  # dataclasses and pickle look there
    try:
        with contextlib.redirect_stdout(sys.stderr):
            exec(compile(source, path, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        raise OwnBotError(f"--bots: {path} cannot be run: {_failure(error, path)}") from None
    usable = [
        key
        for key, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__ and hasattr(value, "choose")
    ]
    wanted = vars(module).get(cls)
    if not cls or not isinstance(wanted, type):
        close = difflib.get_close_matches(cls, usable, n=1) or usable[:1]
        hint = f"; {path}:{close[0]} would be one" if close else ""
        what = f"no class {cls!r}" if cls else "named without a class"
        raise OwnBotError(
            f"--bots: {path}: {what}; a bot is FILE.py:CLASS, a class with choose(view, options){hint}"
        )
    if not callable(getattr(wanted, "choose", None)):
        raise OwnBotError(f"--bots: {path}:{cls} has no method choose(view, options)")
    return f"{path}:{cls}@{found}", wanted


class OwnPlayer:
    """A user's bot in one seat; every game gets an object of its own.

    Parameters
    ----------
    params : Params
    rules : mapping
        Every dotted key of the variant.
    name : str
        See :func:`load_bot`.
    """

    def __init__(self, params: Params, rules: Mapping[str, Any], name: str) -> None:
        self.name, self._class = load_bot(name)
        self._path, self._label, _ = _parse(self.name)
        self._params = params
        self._rules = MappingProxyType(
            {
                key: MappingProxyType(value) if isinstance(value, dict) else value
                for key, value in rules.items()
            }
        )
        self._game = 0
        self._bot: Any = None

    def begin(self, game: int) -> None:
        """Make the object that plays the next game."""
        self._game = game
        try:
            with contextlib.redirect_stdout(sys.stderr):
                self._bot = self._class()
        except (Exception, SystemExit) as error:
            raise self._error("it cannot be made without arguments", error) from None

    def choose(self, t: Table) -> int:
        """Ask the bot, and check its answer."""
        options = options_of(t)
        view = seat_view(self._params, self._rules, t)
        where = f"decision {view.number} ({view.decision})"
        try:
            with contextlib.redirect_stdout(sys.stderr):  # stdout is for data
                answer = self._bot.choose(view, options)
        except (Exception, SystemExit) as error:
            raise self._error(f"{where}: choose failed", error) from None
        if isinstance(answer, Option):
            for option in options:
                if option == answer:
                    return option.choice
        elif isinstance(answer, int) and not isinstance(answer, bool) and 0 <= answer < len(options):
            return options[answer].choice
        shown = _line(answer if isinstance(answer, Option) else repr(answer))[:_SHOWN]
        legal = ", ".join(str(option) for option in options)
        raise self._error(f"{where}: chose {shown}, which is no option; options are {legal}")

    def values(self, t: Table) -> Sequence[float] | None:
        """The bot's own value of each option, where it has a method ``values(view, options)``."""
        rate = getattr(self._bot, "values", None)
        if not callable(rate):
            return None
        options = options_of(t)
        view = seat_view(self._params, self._rules, t)
        try:
            with contextlib.redirect_stdout(sys.stderr):
                told = [float(value) for value in rate(view, options)]
        except (Exception, SystemExit) as error:
            raise self._error(f"decision {view.number} ({view.decision}): values failed", error) from None
        if len(told) != len(options):
            raise self._error(
                f"decision {view.number}: values gave {len(told)} values for {len(options)} options"
            )
        return told

    def _error(self, what: str, error: BaseException | None = None) -> OwnBotError:
        more = f": {_failure(error, self._path)}" if error is not None else ""
        return OwnBotError(f"{self._path}:{self._label}: game {self._game}, {what}{more}")
