"""The table as the events of a log tell it: who holds what, what lies open, what is left of the wall.

It follows the events alone and judges nothing, so that a log that breaks the rules can still be shown up to there
and beyond; where an event cannot be carried out as told (a card that nobody holds), ``odd`` says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sim.cards import FACES, KINDS, RANKS, WANG, parse_cards
from sim.explain import group_number
from sim.groups import GROUP_TYPE, KAN, PAO, PENG, TI, TYPE_NAMES, WEI
from sim.params import REPLACEMENT_DRAW, Params


@dataclass(frozen=True)
class Meld:
    """A group laid down."""

    type: str
    cards: tuple[int, ...]
    huxi: int
    hidden: bool = False
    """Face down for the other players."""


@dataclass
class CardInPlay:
    """The card just drawn or discarded."""

    kind: int
    seat: int
    drawn: bool
    hidden: bool = False


@dataclass
class Board:
    """State of a game between two events.

    Made by :meth:`of_start`; :meth:`apply` takes one event after the other.
    """

    params: Params
    dealer: int
    sitter: int | None
    seats: int
    hands: dict[int, list[int]]
    """Concealed cards by active seat, sorted, a wang last."""
    wall: list[int]
    melds: dict[int, list[Meld]] = field(default_factory=dict)
    piles: dict[int, list[tuple[int, bool]]] = field(default_factory=dict)
    """Dead cards by the seat that drew (True) or discarded (False) them."""
    card: CardInPlay | None = None
    turn: int = 0
    dead: set[int] = field(default_factory=set)
    peng_passed: dict[int, set[int]] = field(default_factory=dict)
    discarded: dict[int, set[int]] = field(default_factory=dict)
    touched: set[tuple[int, int]] = field(default_factory=set)
    """(seat, number of the meld) laid or changed by the last event."""
    odd: bool = False
    """True once an event could not be carried out as told."""
    _dealing: bool = True

    @classmethod
    def of_start(cls, start: Mapping[str, Any], params: Params) -> Board:
        """The table right after the deal.

        Parameters
        ----------
        start : mapping
            A ``start`` event.
        """
        hands = {int(seat): sorted(parse_cards(cards)) for seat, cards in start["hands"].items()}
        board = cls(
            params, start["dealer"], start["sitter"], start["seats"], hands, parse_cards(start["wall"])
        )
        board.turn = board.dealer
        for seat in range(board.seats):
            board.hands.setdefault(seat, [])
            board.melds[seat], board.piles[seat] = [], []
            board.peng_passed[seat], board.discarded[seat] = set(), set()
        return board

    @property
    def active(self) -> list[int]:
        """Seats that play, in turn order from the dealer."""
        order = [(self.dealer + step) % self.seats for step in range(self.seats)]
        return [seat for seat in order if seat != self.sitter]

    def owned(self, seat: int) -> int:
        """Cards of a seat, concealed and exposed."""
        return len(self.hands[seat]) + sum(len(meld.cards) for meld in self.melds[seat])

    def quota(self, seat: int) -> int:
        """What a seat may own without a discard (2.8)."""
        quads = sum(meld.type in ("ti", "pao") for meld in self.melds[seat])
        return 20 + max(0, quads - 1)

    def exposed_huxi(self, seat: int) -> int:
        """Huxi of the groups that a seat has laid down."""
        return sum(meld.huxi for meld in self.melds[seat])

    def kan_huxi(self, seat: int) -> int:
        """Huxi of the kans that a seat still holds."""
        hand = self.hands[seat]
        return sum(
            int(self.params.huxi[KAN, kind // RANKS]) for kind in range(KINDS) if hand.count(kind) == 3
        )

    def free(self, seat: int) -> list[int]:
        """Kinds of the free cards of a seat: what it may discard."""
        hand = self.hands[seat]
        return [kind for kind in sorted(set(hand)) if kind != WANG and hand.count(kind) <= 2]

    def apply(self, event: Mapping[str, Any]) -> None:
        """Carry out one event after ``start``."""
        self.touched = set()
        kind = FACES.index(event["card"]) if event.get("card") else -1
        do = getattr(self, f"_do_{event['type']}", None)
        if do is not None:
            do(event, event.get("seat", -1), kind)

    # --- one method an event ---------------------------------------------------------------------

    def _do_draw(self, event: Mapping[str, Any], seat: int, kind: int) -> None:
        self._retire()
        if kind in self.wall:
            self.odd |= self.wall[0] != kind
            self.wall.remove(kind)
        else:
            self.odd = True
        if self._is_replacement(seat):
            self._give(seat, kind)
            return
        self._dealing = False
        self.turn = seat
        self.card = CardInPlay(kind, seat, True, bool(event.get("hidden")))
        if kind == WANG:
            self._give(seat, kind)

    def _is_replacement(self, seat: int) -> bool:
        """Whether a draw is still part of the deal (``turn.extra_quad: replacement_draw``)."""
        if not self._dealing or self.params.extra_quad != REPLACEMENT_DRAW:
            return False
        return self.owned(seat) < self.quota(seat) + int(seat == self.dealer)

    def _do_ti(self, event: Mapping[str, Any], seat: int, kind: int) -> None:
        if event.get("from") == "deal":
            self._lay(seat, TI, kind, held=4, hidden=True)
            return
        self._take_card(seat, kind)
        base = event.get("base")
        if base == "wei":
            self._lift(seat, "wei", TI, kind)
        else:
            self._lay(seat, TI, kind, held=3, hidden=True)

    def _do_wei(self, event: Mapping[str, Any], seat: int, kind: int) -> None:
        self._take_card(seat, kind)
        self._lay(seat, WEI, kind, held=2, hidden=not event.get("open"))

    def _do_pao(self, event: Mapping[str, Any], seat: int, kind: int) -> None:
        self._take_card(seat, kind)
        self.turn = seat
        if event.get("base") in ("wei", "peng"):
            self._lift(seat, str(event["base"]), PAO, kind, opened=True)
        else:
            self._lay(seat, PAO, kind, held=3)

    def _do_peng(self, event: Mapping[str, Any], seat: int, kind: int) -> None:
        self._take_card(seat, kind)
        self.turn = seat
        self._lay(seat, PENG, kind, held=2)

    def _do_chi(self, event: Mapping[str, Any], seat: int, kind: int) -> None:
        self._take_card(seat, kind)
        self.turn = seat
        claimed = True
        for text in event["groups"]:
            cards = parse_cards(text)
            number = group_number(cards)
            huxi = 0 if number is None else int(self.params.group_huxi[number])
            name = "chi" if number is None else TYPE_NAMES[int(GROUP_TYPE[number])]
            self.odd |= number is None
            self._add(seat, Meld(name, tuple(cards), huxi))
            taken = list(cards)
            if claimed and kind in taken:
                taken.remove(kind)
                claimed = False
            self._drop(seat, taken)

    def _do_pass(self, event: Mapping[str, Any], seat: int, kind: int) -> None:
        if event.get("option") == "peng":
            self.peng_passed[seat].add(kind)

    def _do_discard(self, event: Mapping[str, Any], seat: int, kind: int) -> None:
        self._retire()
        self._dealing = False
        self._drop(seat, [kind])
        self.discarded[seat].add(kind)
        self.turn = seat
        self.card = CardInPlay(kind, seat, False)

    def _do_dead(self, event: Mapping[str, Any], seat: int, kind: int) -> None:
        self.dead.add(seat)

    def _do_win(self, event: Mapping[str, Any], seat: int, kind: int) -> None:
        self.turn = seat

    def _do_draw_game(self, event: Mapping[str, Any], seat: int, kind: int) -> None:
        self._retire()

    # --- parts -----------------------------------------------------------------------------------

    def _retire(self) -> None:
        """The card in play, taken by nobody, is dead."""
        if self.card is not None and self.card.kind != WANG:
            self.piles[self.card.seat].append((self.card.kind, self.card.drawn))
        self.card = None

    def _take_card(self, seat: int, kind: int) -> None:
        if self.card is None or self.card.kind != kind:
            self.odd = True
        self.card = None

    def _give(self, seat: int, kind: int) -> None:
        self.hands[seat] = sorted([*self.hands[seat], kind])

    def _drop(self, seat: int, kinds: Iterable[int]) -> None:
        for kind in kinds:
            if kind in self.hands[seat]:
                self.hands[seat].remove(kind)
            else:
                self.odd = True

    def _add(self, seat: int, meld: Meld) -> None:
        self.melds[seat].append(meld)
        self.touched.add((seat, len(self.melds[seat]) - 1))

    def _lay(self, seat: int, group_type: int, kind: int, held: int, hidden: bool = False) -> None:
        self._drop(seat, [kind] * held)
        self._add(seat, self._alike(group_type, kind, hidden))

    def _alike(self, group_type: int, kind: int, hidden: bool) -> Meld:
        number = 4 if group_type in (TI, PAO) else 3
        huxi = int(self.params.huxi[group_type, kind // RANKS]) if kind < KINDS else 0
        return Meld(TYPE_NAMES[group_type], (kind,) * number, huxi, hidden)

    def _lift(self, seat: int, base: str, group_type: int, kind: int, opened: bool = False) -> None:
        for number, meld in enumerate(self.melds[seat]):
            if meld.type == base and meld.cards[0] == kind:
                self.melds[seat][number] = self._alike(group_type, kind, meld.hidden and not opened)
                self.touched.add((seat, number))
                return
        self.odd = True
        self._add(seat, self._alike(group_type, kind, False))
