"""The forward model: a game as a machine that runs to the next decision and goes on with a choice.

``start`` deals, ``advance`` runs until a seat must decide or the game is over, ``apply`` takes the choice. What
plays many games (:func:`play_games`), a search bot, a replay and a test all use these three.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim import rng
from sim._jit import kernel
from sim.bots.brain import Brain, brain_tables
from sim.bots.decisions import D_CHI, D_DISCARD, D_NONE, D_PENG, D_WIN, PASS
from sim.bots.dispatch import decide
from sim.cards import KINDS, NO_CARD, WANG
from sim.params import Params
from sim.rows import COLUMN, FAN_NAMES, NULL, ROW_COLUMNS
from sim.rules.arrange import ALL, FORCED_ONLY, evaluate, is_forced
from sim.rules.claims import (
    chi_asked,
    is_chou_wei,
    is_stuck,
    may_chi,
    may_pao,
    may_peng,
    pass_chi,
    pass_peng,
)
from sim.rules.deal import deal, first_dealer, following_dealer, shuffle
from sim.rules.fan import BY_DEAL, BY_OTHER, BY_OWN, names_mask
from sim.rules.lay import (
    EV_CHI,
    EV_DEAD,
    EV_DISCARD,
    EV_DRAW,
    EV_DRAW_GAME,
    EV_PAO,
    EV_PASS,
    EV_PENG,
    EV_TI,
    EV_WEI,
    EV_WIN,
    FROM_DRAW,
    lay_chi,
    lay_pao,
    lay_peng,
    lay_ti,
    lay_wei,
    log_event,
    move_cards,
    show_draw,
    take_wang,
)
from sim.rules.settle import PAY_WANG, score_of, settle_draw, settle_win
from sim.state import (
    ASKED,
    BOT,
    BY,
    CARD,
    CHI_BLOCK,
    DEAD,
    DEALER,
    DEALT_WANGS,
    DECIDER,
    DECISION,
    END,
    HELD_WANGS,
    KANS,
    N_CHI,
    N_CHOU_WEI,
    N_DEAD,
    N_DECISIONS,
    N_DISCARDS,
    N_DRAWS,
    N_OPTIONS,
    N_PAO,
    N_PASSES,
    N_PENG,
    N_SEATS,
    N_TI,
    N_WEI,
    ON_DRAW,
    OWNED,
    P_DEAD,
    P_DISCARDS,
    P_WANGS,
    PHASE,
    SHOWN_WANGS,
    SITTER,
    SOURCE,
    TOP,
    TURN,
    W_FAN,
    W_HUXI,
    W_REDS,
    W_SCORE,
    W_SPECIAL,
    W_TUN,
    WEIS,
    WIN_CARD,
    WIN_CARD_HELD,
    WINNER,
    WORD_A,
    WORD_B,
    XING_COUNT,
    XING_KIND,
    Table,
    must_discard,
    new_table,
    next_seat,
)

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64]

(
    PH_HEAVEN,  # the dealer may win on the deal
    PH_ACT,  # the seat to move has gained a card: discard or pass the turn
    PH_DRAW,  # it draws
    PH_BEFORE,  # it may win before a forced ti or wei
    PH_FORCED,  # the ti or wei is laid
    PH_AFTER,  # it may win after it
    PH_WANG,  # it may win on a wang just drawn
    PH_WINS,  # a shown card: wins, in turn order from the drawer
    PH_PAO,
    PH_PENG,
    PH_CHI,
    PH_OVER,
) = range(12)


@kernel
def _ask(t: Table, decision: int, seat: int) -> int:
    """Make a decision pending."""
    t.game[DECISION] = decision
    t.game[DECIDER] = seat
    return decision


@kernel
def _to(t: Table, phase: int) -> None:
    t.game[PHASE] = phase
    t.game[ASKED] = 0


@kernel
def _turn_to(t: Table, phase: int, seat: int) -> None:
    t.game[TURN] = seat
    _to(t, phase)


@kernel
def _can_win(p: Params, t: Table, seat: int, kind: int, by: int, which: int) -> int:
    """Whether a seat may win now; dead hands never (5.3)."""
    if t.seat[seat, DEAD]:
        return 0
    return evaluate(p, t.hand[seat], t.seat[seat], kind, by, which, t)


@kernel
def _win(p: Params, t: Table, seat: int, card: int, by: int) -> None:
    """End the game by a win; ``t.win`` holds its value."""
    t.game[WINNER] = seat
    t.game[BY] = by
    t.game[WIN_CARD] = card
    t.game[HELD_WANGS] = t.hand[seat, WANG]
    log_event(t, EV_WIN, seat, card, by, 0, 0)
    settle_win(p, t)
    _to(t, PH_OVER)


@kernel
def _draw_game(p: Params, t: Table) -> None:
    """The wall is empty and nobody has won (1.3)."""
    log_event(t, EV_DRAW_GAME, -1, -1, 0, 0, 0)
    settle_draw(p, t)
    _to(t, PH_OVER)


@kernel
def _wall_is_empty(t: Table) -> int:
    return 1 if t.game[TOP] >= t.game[END] else 0


@kernel
def _act(t: Table) -> int:
    """After a gain, discard or let the next player draw; a dead hand only the latter (2.8)."""
    seat = t.game[TURN]
    row = t.seat[seat]
    if must_discard(row) and not row[DEAD]:
        if not is_stuck(row):
            return _ask(t, D_DISCARD, seat)
        row[DEAD] = 1
        t.public[seat, P_DEAD] = 1
        t.game[N_DEAD] += 1
        log_event(t, EV_DEAD, seat, -1, 0, 0, 0)
    _turn_to(t, PH_DRAW, next_seat(t, seat))
    return D_NONE


@kernel
def _gained(p: Params, t: Table, seat: int) -> None:
    """Go on after a gain from the wall: at its end the game is drawn, else the seat acts."""
    if _wall_is_empty(t):
        _draw_game(p, t)
    else:
        _turn_to(t, PH_ACT, seat)


@kernel
def _draw(p: Params, t: Table) -> None:
    """Rule 2.6 draw: the seat to move draws the top card; where it goes decides the next phase."""
    seat = t.game[TURN]
    card = t.deck[t.game[TOP]]
    row = t.seat[seat]
    t.game[TOP] += 1
    t.game[N_DRAWS] += 1
    t.game[CARD] = card
    t.game[SOURCE] = seat
    t.game[ON_DRAW] = 1
    if card == WANG:
        log_event(t, EV_DRAW, seat, card, 0, 0, 0)
        take_wang(t, seat)
        row[SHOWN_WANGS] += 1
        t.public[seat, P_WANGS] += 1
        t.seen[WANG] += 1
        _to(t, PH_WANG)
    elif is_forced(row, card):
        is_ti = ((row[KANS] | row[WEIS]) >> card) & 1
        hidden = 1 if is_ti or not is_chou_wei(t, seat, card) else 0
        log_event(t, EV_DRAW, seat, card, hidden, 0, 0)
        _to(t, PH_BEFORE)
    else:
        log_event(t, EV_DRAW, seat, card, 0, 0, 0)
        t.seen[card] += 1
        _to(t, PH_WINS)


@kernel
def _lay_forced(p: Params, t: Table) -> None:
    """Lay the compulsory group of the card just drawn (2.1, 2.3)."""
    seat = t.game[TURN]
    card = t.game[CARD]
    row = t.seat[seat]
    if ((row[KANS] | row[WEIS]) >> card) & 1:
        base = lay_ti(p, t, seat, card)
        t.game[N_TI] += 1
        log_event(t, EV_TI, seat, card, FROM_DRAW, base, 0)
    else:
        is_open = is_chou_wei(t, seat, card)
        lay_wei(p, t, seat, card, is_open)
        t.game[N_WEI] += 1
        t.game[N_CHOU_WEI] += is_open
        log_event(t, EV_WEI, seat, card, is_open, 0, 0)


@kernel
def _before_forced(p: Params, t: Table) -> int:
    """Ask a win before the ti or wei: a declared special, or any under ``win.forced_first: false`` (5.3)."""
    seat = t.game[TURN]
    card = t.game[CARD]
    if _can_win(p, t, seat, card, BY_OWN, ALL) and (not p.forced_first or t.win[W_SPECIAL] > 0):
        return _ask(t, D_WIN, seat)
    _to(t, PH_FORCED)
    return D_NONE


@kernel
def _forced(p: Params, t: Table) -> int:
    """Lay the ti or wei, then ask the win with it. The win is valued on the hand before the group was laid."""
    seat = t.game[TURN]
    wins = 0
    if p.forced_first:
        wins = _can_win(p, t, seat, t.game[CARD], BY_OWN, FORCED_ONLY)
    _lay_forced(p, t)
    if wins:
        _to(t, PH_AFTER)
        return _ask(t, D_WIN, seat)
    _gained(p, t, seat)
    return D_NONE


@kernel
def _ask_wins(p: Params, t: Table) -> int:
    """The drawer first, then the others in turn order; a wang holder only on his own draw (2.6)."""
    seat = t.game[SOURCE]
    for _ in range(t.game[ASKED]):
        seat = next_seat(t, seat)
    while t.game[ASKED] < 3:
        by = BY_OWN if t.game[ASKED] == 0 else BY_OTHER
        t.game[ASKED] += 1
        if (by == BY_OWN or t.hand[seat, WANG] == 0) and _can_win(p, t, seat, t.game[CARD], by, ALL):
            return _ask(t, D_WIN, seat)
        seat = next_seat(t, seat)
    if _wall_is_empty(t):
        _draw_game(p, t)
    else:
        _to(t, PH_PAO)
    return D_NONE


@kernel
def _pao(p: Params, t: Table) -> None:
    """A compulsory pao goes before peng and chi (2.6)."""
    card = t.game[CARD]
    seat = t.game[SOURCE]
    for _ in range(3):
        if may_pao(p, t, seat, card):
            base = lay_pao(p, t, seat, card)
            t.game[N_PAO] += 1
            log_event(t, EV_PAO, seat, card, base, 0, 0)
            _turn_to(t, PH_ACT, seat)
            return
        seat = next_seat(t, seat)
    _to(t, PH_PENG)


@kernel
def _ask_peng(t: Table) -> int:
    """Another player with exactly two of the card, in turn order (2.6)."""
    seat = t.game[SOURCE]
    for _ in range(t.game[ASKED]):
        seat = next_seat(t, seat)
    while t.game[ASKED] < 2:
        t.game[ASKED] += 1
        seat = next_seat(t, seat)
        if may_peng(t, seat, t.game[CARD]):
            return _ask(t, D_PENG, seat)
    _to(t, PH_CHI)
    return D_NONE


@kernel
def _ask_chi(p: Params, t: Table) -> int:
    """Chi by position; if nobody takes the card the next player draws (2.6)."""
    while True:
        seat = chi_asked(p, t, t.game[ASKED])
        if seat < 0:
            _turn_to(t, PH_DRAW, next_seat(t, t.game[SOURCE]))
            return D_NONE
        t.game[ASKED] += 1
        options = may_chi(t, seat, t.game[CARD])
        t.game[N_OPTIONS] = options
        if options > 0:
            return _ask(t, D_CHI, seat)
        pass_chi(p, t, seat, t.game[CARD])


@kernel
def advance(p: Params, t: Table) -> int:
    """Run the game to its next decision.

    Returns
    -------
    int
        The decision (:mod:`sim.bots.decisions`), asked of ``t.game[DECIDER]``; ``D_NONE`` when the game is over.
    """
    decision = D_NONE
    while decision == D_NONE and t.game[PHASE] != PH_OVER:
        phase = t.game[PHASE]
        if phase == PH_HEAVEN:
            dealer = t.game[DEALER]
            if p.heavenly_win and _can_win(p, t, dealer, NO_CARD, BY_DEAL, ALL):
                decision = _ask(t, D_WIN, dealer)
            else:
                _turn_to(t, PH_ACT, dealer)
        elif phase == PH_ACT:
            decision = _act(t)
        elif phase == PH_DRAW:
            _draw(p, t)
        elif phase == PH_BEFORE:
            decision = _before_forced(p, t)
        elif phase == PH_FORCED:
            decision = _forced(p, t)
        elif phase == PH_WANG:
            if _can_win(p, t, t.game[TURN], WANG, BY_OWN, ALL):
                decision = _ask(t, D_WIN, t.game[TURN])
            else:
                _gained(p, t, t.game[TURN])
        elif phase == PH_WINS:
            decision = _ask_wins(p, t)
        elif phase == PH_PAO:
            _pao(p, t)
        elif phase == PH_PENG:
            decision = _ask_peng(t)
        else:
            decision = _ask_chi(p, t)
    t.game[DECISION] = decision
    return decision


@kernel
def _pass(t: Table, seat: int, option: int, card: int) -> None:
    t.game[N_PASSES] += 1
    log_event(t, EV_PASS, seat, card, option, 0, 0)


@kernel
def _apply_win(p: Params, t: Table, choice: int) -> None:
    seat = t.game[DECIDER]
    phase = t.game[PHASE]
    card = NO_CARD if phase == PH_HEAVEN else t.game[CARD]
    by = BY_DEAL if phase == PH_HEAVEN else (BY_OWN if seat == t.game[SOURCE] else BY_OTHER)
    if choice != PASS:
        t.game[WIN_CARD_HELD] = 1 if phase == PH_AFTER else 0
        if phase == PH_BEFORE:
            show_draw(t)
        _win(p, t, seat, card, by)
        return
    _pass(t, seat, D_WIN, card)
    if phase == PH_HEAVEN:
        _turn_to(t, PH_ACT, seat)
    elif phase == PH_BEFORE:
        _to(t, PH_FORCED)
    elif phase != PH_WINS:
        _gained(p, t, seat)


@kernel
def _apply_discard(p: Params, t: Table, kind: int) -> None:
    """A free card, shown; the player himself may not chi its kind any more (2.10) (2.8)."""
    seat = t.game[DECIDER]
    move_cards(t, seat, kind, -1)
    t.seat[seat, OWNED] -= 1
    t.seen[kind] += 1
    t.public[seat, P_DISCARDS] |= 1 << kind
    if p.own_discard_blocks_chi:
        t.seat[seat, CHI_BLOCK] |= 1 << kind
    t.game[N_DISCARDS] += 1
    t.game[CARD] = kind
    t.game[SOURCE] = seat
    t.game[ON_DRAW] = 0
    log_event(t, EV_DISCARD, seat, kind, 0, 0, 0)
    _to(t, PH_PAO)


@kernel
def is_legal(t: Table, choice: int) -> int:
    """Whether ``choice`` answers the pending decision."""
    decision = t.game[DECISION]
    if decision == D_WIN or decision == D_PENG:
        return 1 if 0 <= choice <= 1 else 0
    if decision == D_CHI:
        return 1 if 0 <= choice <= t.game[N_OPTIONS] else 0
    if decision == D_DISCARD and 0 <= choice < KINDS:
        return 1 if 0 < t.hand[t.game[DECIDER], choice] <= 2 else 0
    return 0


@kernel
def apply(p: Params, t: Table, choice: int) -> None:
    """Answer the pending decision with a legal choice."""
    decision = t.game[DECISION]
    seat = t.game[DECIDER]
    card = t.game[CARD]
    t.game[DECISION] = D_NONE
    if decision == D_WIN:
        _apply_win(p, t, choice)
    elif decision == D_DISCARD:
        _apply_discard(p, t, choice)
    elif decision == D_PENG:
        if choice == PASS:
            _pass(t, seat, D_PENG, card)
            pass_peng(p, t, seat, card)
        else:
            lay_peng(p, t, seat, card)
            t.game[N_PENG] += 1
            log_event(t, EV_PENG, seat, card, 0, 0, 0)
            _turn_to(t, PH_ACT, seat)
    elif choice == PASS:
        _pass(t, seat, D_CHI, card)
        pass_chi(p, t, seat, card)
    else:
        option = choice - 1
        lay_chi(p, t, seat, card, option)
        t.game[N_CHI] += 1
        groups = t.options[option]
        log_event(t, EV_CHI, seat, card, groups[1], groups[2], groups[3])
        _turn_to(t, PH_ACT, seat)


@kernel
def start(p: Params, t: Table, dealer: int, bots: Ints, bot_words: Ints) -> None:
    """Deal from the shuffled deck and seat the bots (dealer, next, third).

    Parameters
    ----------
    bots : ndarray of int64, shape (3,)
        Bot numbers by role.
    bot_words : ndarray of int64, shape (8,)
        Two random words a role.
    """
    deal(p, t, dealer)
    t.game[PHASE] = PH_HEAVEN
    seat = dealer
    for role in range(3):
        t.seat[seat, BOT] = bots[role]
        t.seat[seat, WORD_A] = bot_words[2 * role]
        t.seat[seat, WORD_B] = bot_words[2 * role + 1]
        seat = next_seat(t, seat)


@kernel
def play(p: Params, brain: Brain, t: Table) -> None:
    """Play a started game to its end."""
    while advance(p, t) != D_NONE:
        apply(p, t, decide(p, brain, t))


@kernel
def _write_win(p: Params, t: Table, row: Ints) -> None:
    win = t.win
    row[COL_BY] = t.game[BY]
    row[COL_HUXI] = win[W_HUXI]
    row[COL_TUN] = win[W_TUN]
    row[COL_FAN] = win[W_FAN]
    row[COL_SCORE] = win[W_SCORE]
    row[COL_REDS] = win[W_REDS]
    row[COL_WANGS_WIN] = t.game[HELD_WANGS]
    row[COL_XING] = t.game[XING_COUNT]
    row[COL_XING_KIND] = t.game[XING_KIND]
    names = names_mask(p, t.game[BY], win[W_SPECIAL], win[W_REDS])
    for name in range(N_FANS):
        row[COL_NAMES + name] = (names >> name) & 1


@kernel
def _write_seats(t: Table, row: Ints) -> None:
    for seat in range(t.game[N_SEATS]):
        if seat != t.game[SITTER]:
            row[COL_DEALT + seat] = t.seat[seat, DEALT_WANGS]
            row[COL_FINAL + seat] = t.hand[seat, WANG]
        row[COL_MONEY + seat] = score_of(t, seat)
        paid = 0
        for other in range(t.game[N_SEATS]):
            paid += t.money[PAY_WANG, seat, other]
        row[COL_PAID + seat] = paid


@kernel
def write_row(p: Params, t: Table, game: int, session: int, row: Ints) -> None:
    """Write a finished game as a row of :mod:`sim.rows`."""
    row[:] = NULL
    row[0] = game
    row[1] = session
    row[2] = t.game[DEALER]
    if t.game[SITTER] >= 0:
        row[3] = t.game[SITTER]
    for name in range(N_FANS):
        row[COL_NAMES + name] = 0
    if t.game[WINNER] >= 0:
        row[4] = t.game[WINNER]
        _write_win(p, t, row)
    _write_seats(t, row)
    for reason in range(3):
        total = 0
        for payer in range(4):
            for payee in range(4):
                total += t.money[reason, payer, payee]
        row[COL_TOTALS + reason] = total
    for number in range(len(_COUNTED)):
        row[COL_COUNTS + number] = t.game[_COUNTED[number]]
    row[COL_COUNTS + len(_COUNTED)] = t.game[END] - t.game[TOP]


COL_BY = COLUMN["by"]
COL_HUXI = COLUMN["huxi"]
COL_TUN = COLUMN["tun"]
COL_FAN = COLUMN["fan"]
COL_SCORE = COLUMN["score"]
COL_REDS = COLUMN["red_cards"]
COL_WANGS_WIN = COLUMN["wangs_win"]
COL_NAMES = COLUMN[FAN_NAMES[0]]
COL_XING = COLUMN["xing"]
COL_XING_KIND = COLUMN["xing_kind"]
COL_DEALT = COLUMN["wangs_dealt_0"]
COL_FINAL = COLUMN["wangs_final_0"]
COL_MONEY = COLUMN["score_0"]
COL_PAID = COLUMN["wang_paid_0"]
COL_TOTALS = COLUMN["money_win"]
COL_COUNTS = COLUMN["draws"]
N_FANS = len(FAN_NAMES)
_COUNTED = (
    N_DRAWS,
    N_DISCARDS,
    N_TI,
    N_WEI,
    N_CHOU_WEI,
    N_PAO,
    N_PENG,
    N_CHI,
    N_DEAD,
    N_PASSES,
    N_DECISIONS,
)


@kernel
def _play_many(
    p: Params,
    brain: Brain,
    t: Table,
    deal_words: Ints,
    bot_words: Ints,
    bots: Ints,
    first: int,
    length: int,
    rows: Rows,
) -> None:
    """Play ``len(rows)`` games; with sessions of ``length`` the first game must begin one."""
    for number in range(rows.shape[0]):
        game = first + number
        dealer = 0
        session = NULL
        if length > 0:
            session = game // length
            if game % length == 0:
                dealer = first_dealer(p, deal_words[number])
            else:
                dealer = following_dealer(p, t)
        shuffle(deal_words[number], p.wangs, t.deck)
        start(p, t, dealer, bots, bot_words[number])
        play(p, brain, t)
        write_row(p, t, game, session, rows[number])


BATCH = 4096
"""Games whose random words are made at once: a few megabytes."""


def play_games(
    params: Params, bots: Sequence[int], seed: int, first: int, count: int, session: int = 0
) -> Rows:
    """Play games ``first`` to ``first + count - 1`` of a seed.

    Parameters
    ----------
    params : Params
    bots : sequence of three int
        Bot numbers of dealer, next and third.
    seed : int
        0 to 2**64 - 1.
    first, count : int
        With sessions ``first`` must be a multiple of ``session``.
    session : int
        Deals a session; 0 lets every game stand alone with the dealer at seat 0.

    Returns
    -------
    ndarray of int64, shape (count, len(ROW_COLUMNS))
        ``NULL`` where a field is empty.

    Raises
    ------
    ValueError
        If ``first`` lies inside a session.
    """
    if session and first % session:
        raise ValueError("a chunk of games must begin with a session")
    rows = np.empty((count, len(ROW_COLUMNS)), dtype=np.int64)
    table = new_table()
    numbers = np.array(bots, dtype=np.int64)
    brain = brain_tables()
    step = max(1, BATCH // session) * session if session else BATCH
    for begin in range(0, count, step):
        batch = rows[begin : begin + step]
        deal_words = rng.words(seed, rng.STREAM_DEAL, first + begin, len(batch), rng.DEAL_WORDS)
        bot_words = rng.words(seed, rng.STREAM_BOTS, first + begin, len(batch), rng.BOT_WORDS)
        _play_many(params, brain, table, deal_words, bot_words, numbers, first + begin, session, batch)
    return rows


def warm_up(params: Params) -> None:
    """Compile, or load from the cache, all that playing needs."""
    play_games(params, (0, 1, 1), seed=0, first=0, count=2)
