"""The rules, numbered: the Chinese text, our reading in both languages, the keys, how sure, and an example.

The one source of ``docs/rules.md``, ``docs/rules.zh.md`` and ``chehuzi rules``. Certainty: S the rule texts say so; E
they are silent and every public engine read does so; J our judgement, texts or engines differ, so the key matters.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One numbered rule."""

    number: str
    name: str
    """Name in code and tests."""
    zh: str
    """The Chinese term."""
    quote: str
    """What the rule texts say, in their words; empty where they are silent."""
    summary_en: str
    summary_zh: str
    keys: tuple[str, ...] = ()
    certainty: str = "S"
    example_en: str = ""
    example_zh: str = ""
    home: str = ""
    """Where the code has it: ``module.function`` below ``sim``, or ``schema:`` and the field that carries it."""

    def mark(self, lang: str) -> str:
        """How sure the rule is, in ``en`` or ``zh``."""
        return self.certainty if lang == "en" else _MARKS_ZH[self.certainty]


_MARKS_ZH = {
    "S": "S",
    "E": "E",
    "J": "J",
    "S, E after a win": "S；胡牌后谁坐庄 E",
    "S, J for two wangs": "S；双王不翻倍 J",
    "S, E for chi, peng and pao": "S；不参与吃、碰、跑 E",
    "S, J which is standard": "S；通行哪一种 J",
    "S, E for the heavenly win": "S；天胡 E",
    "S, E for the own draw": "S；自己摸牌时 E",
    "S, E for the order": "S；先后次序 E",
    "S, E for the exact form": "S；细则 E",
    "S, E, J for the last sentence": "S；吃上家摸出的牌 E；末句 J",
    "S, J for the base": "S；起囤 J",
    "S, E for forced moves and wangs": "S；必提必偎与用王 E",
}


def _fan(
    number: str, name: str, zh: str, quote: str, en: str, text: str, key: str, example: tuple[str, str]
) -> Rule:
    keys = (f"fan.{key}",) + (("fan.red_min",) if key == "red" else ())
    return Rule(number, name, zh, quote, en, text, keys, "S", *example, home=f"schema:fan.{key}")


def _huxi(number: str, name: str, zh: str, quote: str, values: str, example: tuple[str, str]) -> Rule:
    en = f"A {name.replace('_', '-')} counts {values} huxi (small, large)."
    text = f"{zh}：小字 {values.split(', ', maxsplit=1)[0]} 胡息，大字 {values.split(', ')[1]} 胡息。"
    keys = (f"huxi.{name}.small", f"huxi.{name}.large")
    return Rule(number, name, zh, quote, en, text, keys, "S", *example, home=f"schema:huxi.{name}")


RULES: tuple[Rule, ...] = (
    Rule(
        "1.1",
        "deck",
        "牌",
        "小写“一”到“十”各4张共40张，大写“壹”到“拾”各4张共40张，四张王霸，一共84张。",
        "80 cards – 20 kinds, four of each – and two, three or four wangs (0 to 4 are legal). The ranks 2, 7 and 10 of "
        "both sizes are red, all others black.",
        "字牌80张：大小各十种，每种四张；另加两张、三张或四张王霸（程序允许0至4张）。二、七、十（贰、柒、拾）为红字，其余为黑字。",
        ("deck.wangs",),
        "S",
        "Two wangs: 82 cards, 24 of them red.",
        "双王共82张，其中红字24张。",
        "rules.deal.shuffle",
    ),
    Rule(
        "1.2",
        "dealer",
        "坐庄",
        "开局随机坐庄家。／开局默认为房主坐庄家……荒庄后庄流到下家。",
        "Four wangs: the first dealer is drawn by lot; two and three wangs: the owner, seat 0. After a draw game the next "
        "active seat deals; after a win the winner does (no text says who; engines let the winner deal).",
        "四王开局随机坐庄，双王、三王由房主（0号位）坐庄。荒庄后庄流到下家；胡牌后由胡家坐庄（原文未说，各家程序如此）。",
        ("table.first_dealer", "table.dealer_after_win", "table.dealer_after_draw"),
        "S, E after a win",
        "Seat 3 wins, so seat 3 deals next and seat 1 sits out.",
        "3号胡牌，下局3号坐庄，1号为醒家。",
        "rules.deal.following_dealer",
    ),
    Rule(
        "1.3",
        "draw_game",
        "荒庄",
        "手中有王霸的玩家需要赔付给没有王霸的玩家，庄家不需要赔给醒家（醒家算无王），所有王在一个玩家手里翻倍给左右家。",
        "The wall ends and nobody has won. Every holder of n wangs pays unit × n to each seat without one; holders pay "
        "each other nothing, the sitter counts as without, the dealer pays the sitter nothing. If one player holds every "
        "wang, what he pays the two other players is multiplied by all_in_one: 2 with three and four wangs; 1 with two, "
        "because the text's “two wangs ten times” can only mean that doubled amount.",
        "墩上摸完无人胡牌即荒庄。有n张王的向每位无王者赔 n×5；有王的互不赔；醒家算无王，庄家不赔醒家。所有王在一人手里时，"
        "赔左右家翻倍（三王、四王为2倍；双王原文“两张则是10倍”已含翻倍，故取1）；赔醒家的不翻倍。",
        ("draw.wang_payout.enabled", "draw.wang_payout.unit", "draw.wang_payout.all_in_one"),
        "S, J for two wangs",
        "Two wangs, both held by the player after the dealer: he pays 10 to the dealer, 10 to the third player and 10 to the "
        "sitter.",
        "双王都在庄家下家手里：他赔庄家10、赔另一家10、赔醒家10。",
        "rules.settle.settle_draw",
    ),
    Rule(
        "1.4",
        "wang",
        "王霸",
        "王霸可以代替任何牌进行游戏……手中有王霸的玩家，只能自摸。王霸不能打出，只能代替牌。",
        "A wang stands for any card, but only in the final arrangement: it is never discarded and never used in a chi, bi, peng "
        "or pao. Dealt wangs stay hidden; a drawn one is shown and taken into the hand, and the player may win on it. Whoever "
        "holds a wang wins only on an own draw.",
        "王可代任何牌，但只在胡牌组牌时代用：不能打出，也不能拿来吃、比、碰、跑。起手的王不亮；摸到的王要亮明并收入手中，可当场胡牌。"
        "手中有王只能自摸。",
        (),
        "S, E for chi, peng and pao",
        "With 王 in hand, a card that another draws cannot be won on, however well it fits.",
        "手里有王，别家摸出的牌再合适也不能胡。",
        "rules.lay.take_wang",
    ),
    Rule(
        "1.5",
        "pair",
        "一对牌",
        "砌牌后，手中2个相同的牌为1对。",
        "Two alike. As the pair (将) it is one of the seven groups of a hand that has a ti or pao.",
        "两张相同为一对；有提或跑的牌，胡牌时须有一对作将。",
        (),
        "S",
        "伍伍, or 伍王.",
        "伍伍，或伍王。",
        "rules.arrange._note_with_one",
    ),
    Rule(
        "1.6",
        "kan",
        "一坎牌",
        "砌牌后，手中3个相同的牌为1坎。一坎牌不能拆散与其他牌组合。",
        "Three alike in the concealed hand. A kan is never broken: its cards are not discarded and serve in no other group. It "
        "may become a ti or a pao.",
        "手中三张相同为一坎。坎不能拆：不能打出，也不能与别的牌另组；可成提或跑。",
        (),
        "S",
        "六六六 with 四五: no 六 leaves the kan to make 四五六.",
        "手有六六六与四五：六不能拆去凑四五六。",
        "state.change",
    ),
    Rule(
        "1.7",
        "ti",
        "一提牌",
        "砌牌后，手中4个相同的牌为1提。一提牌不能拆散与其他牌组合。",
        "Four alike. In the dealt hand they are laid down at once, face down. A ti is never broken.",
        "四张相同为一提；起手有四张相同即先提下，不明示。提不能拆。",
        (),
        "S",
        "Dealt 一一一一: laid down before play begins.",
        "起手一一一一，开局先提。",
        "rules.lay.lay_dealt_ti",
    ),
    Rule(
        "1.8",
        "run",
        "一句话",
        "砌牌后，手中的牌依据规则组合成相连的三张，比如小4、5、6，称为一句话。另外2、7、10组合也称为一句话。",
        "Any three consecutive ranks 1 to 10 of one size; 2-7-10 of one size is a run too. 1-2-3 and 2-7-10 count huxi, other "
        "runs none.",
        "同一大小相连三张为一句话；二七十（贰柒拾）也算。一二三与二七十有胡息，其余无。",
        ("huxi.run.small", "huxi.run.large"),
        "S",
        "四五六, 捌玖拾, 贰柒拾. Not 九十一.",
        "四五六、捌玖拾、贰柒拾都是；九十一不是。",
        "rules.arrange._note_threes",
    ),
    Rule(
        "1.9",
        "jiao",
        "绞牌",
        "当1对大牌与1张相同的小牌，或者1对小牌与1张相同的大牌组合时，成为绞牌。",
        "Two of one size and one of the other, of the same rank. No huxi.",
        "一对大字加一张同名小字，或一对小字加一张同名大字。无胡息。",
        ("huxi.jiao.small", "huxi.jiao.large"),
        "S",
        "九九玖 or 玖玖九.",
        "九九玖、玖玖九。",
        "rules.arrange._take_jiao",
    ),
    Rule(
        "1.10",
        "fan_limit",
        "按番限胡",
        "抓一王要两番或以上牌型才可胡牌，抓两王要4翻，三王8翻，四王16番。",
        "With 1, 2, 3, 4 wangs in the concealed hand, one just drawn included, the winning fan must be at least 2, 4, 8, 16. "
        "Only arrangements that meet the limit count. The text lists this limit and the next for four wangs; rooms offer them "
        "as alternatives, and the preset takes this one.",
        "手中（含刚摸到的）有1、2、3、4张王，番数须满2、4、8、16番方可胡；只算够番的组法。四王原文并列两种限胡，房间里二者选一，"
        "预设取本条。",
        ("win.wang_limit.mode", "win.wang_limit.min_fan"),
        "S, J which is standard",
        "Two wangs and an own draw of 2 fan: no win; with 红胡, 4 fan, it wins.",
        "两王自摸只有2番，不能胡；若成红胡共4番，可胡。",
        "schema:win.wang_limit.min_fan",
    ),
    Rule(
        "1.11",
        "wang_limit",
        "按王限胡",
        "一个王、两个王可以自摸胡牌，三个王四个王只能通过王钓、王闯、王炸三种方式胡牌",
        "With three or more wangs only a wang special (4.5 to 4.10) wins.",
        "一两张王可以自摸；三张以上只能以王钓、王闯、王炸胡牌。",
        ("win.wang_limit.mode", "win.wang_limit.special_only_from"),
        "S, J which is standard",
        "Three wangs spread over runs: no win, whatever the huxi.",
        "三张王拆开凑句子，胡息再多也不能胡。",
        "schema:win.wang_limit.special_only_from",
    ),
    Rule(
        "1.12",
        "seats",
        "醒家",
        "庄家的对家作为醒家，醒家不参与打牌，但是可以看庄家的牌",
        "Four seats; the one opposite the dealer is the sitter: he gets no cards and plays nothing, but has money in 1.3 and "
        "2.13. He is found anew each deal. Turn order is seat + 1, without the sitter. With three seats all play.",
        "四人中庄家对家为醒家，不摸牌不打牌，只参与1.3、2.13的收付，每局重定。轮次依座位向下，跳过醒家。三人则无醒家。",
        ("table.seats",),
        "S",
        "Dealer 1: seat 3 sits out, the order is 1, 2, 0.",
        "1号坐庄，3号坐醒，轮次为1、2、0。",
        "state.next_seat",
    ),
    Rule(
        "1.13",
        "deal",
        "发牌",
        "每位玩家抓20张牌，庄家砌21张牌，留21张牌在墩上。",
        "Each active player gets 20 cards, the dealer a 21st that nobody sees or may claim. The wall holds 21, 22 or 23. Dealt "
        "ti are laid in turn order from the dealer. Then the dealer may win on the dealt cards (heavenly win): an own draw "
        "without a winning card, so no wang special.",
        "每人20张，庄家21张；第21张不亮，别人不能要。墩上余21、22或23张。起手的提从庄家起依次提下，随后庄家可天胡：算自摸，"
        "但没有所胡之牌，不论王钓等名堂。",
        ("deal.heavenly_win",),
        "S, E for the heavenly win",
        "A dealt three counts as kan in a heavenly win.",
        "天胡时手中三张相同算坎。",
        "rules.deal.deal",
    ),
    Rule(
        "2.1",
        "wei",
        "偎牌",
        "摸牌时，如果所摸的牌正好是手中的一对牌，则必须将牌由手上放到桌上，但不明示。",
        "The drawer holds exactly two of the card he draws: the three are laid down, face down. Compulsory.",
        "摸到的牌手中正好有一对，必须偎下，不明示。",
        (),
        "S",
        "Holding 九九 and drawing 九: wei.",
        "手有九九，摸到九，偎。",
        "rules.lay.lay_wei",
    ),
    Rule(
        "2.2",
        "chou_wei",
        "臭偎",
        "忍碰之后，又偎牌，称为臭偎。臭偎必须明示（两张暗一张明）。",
        "A wei of a kind whose peng one has passed is laid open. It counts like any wei.",
        "忍碰过的牌再偎，须明示；胡息与偎相同。",
        (),
        "S",
        "Pass the peng of 九, later draw 九: chou wei.",
        "忍碰九，后来自己摸到九：臭偎。",
        "rules.claims.is_chou_wei",
    ),
    Rule(
        "2.3",
        "draw_ti",
        "提牌",
        "提牌时，如果所摸的牌正好是手中的一坎牌，则必须将牌由手上放到桌面，但不明示。",
        "The drawer holds a concealed kan of the card, or has an own wei of it: the four are a ti, face down. Compulsory.",
        "摸到的牌手中有一坎，或自己已偎，必须提，不明示。",
        (),
        "S",
        "Own wei 九九九, drawing 九: ti.",
        "已偎九，又摸到九：提。",
        "rules.lay.lay_ti",
    ),
    Rule(
        "2.4",
        "peng",
        "碰牌",
        "当别人打或摸的牌自己手中有一对，则可以碰牌，碰牌后将牌放到桌面。",
        "Another's discarded or drawn card joins exactly two concealed of its kind, open. Optional.",
        "别人打出或摸出的牌，自己手中正好有一对，可以碰。",
        (),
        "S",
        "Holding 壹壹 when 壹 is discarded.",
        "手有壹壹，别人打壹，可碰。",
        "rules.claims.may_peng",
    ),
    Rule(
        "2.5",
        "pao",
        "跑牌",
        "当别人打或摸的牌自己手中有一坎，或者是已经偎牌的牌，则可以跑牌……或者当别人从墩上摸的牌，是自己已经碰牌的牌，则同样可以跑牌。",
        "A shown card joins a concealed kan or an own wei; a drawn card also an own peng, whoever drew it. A discard lifts no "
        "peng. Compulsory; only a win comes before.",
        "别人打出或摸出的牌，自己有坎或已偎，必须跑；从墩上摸出的牌，自己已碰，也跑（打出的不跑）。只有胡在跑之前。",
        ("turn.peng_to_pao",),
        "S, E for the own draw",
        "Own peng 壹壹壹, anyone draws 壹: pao. Someone discards 壹: nothing.",
        "已碰壹，有人摸出壹：跑；有人打出壹：不跑。",
        "rules.claims.may_pao",
    ),
    Rule(
        "2.6",
        "draw",
        "摸牌",
        "摸牌时，除偎牌与提牌外，必须首先明示，在别人不碰或不跑的情况下才可以吃牌。",
        "The player to move draws. A wang goes into his hand; a card that makes a ti or wei is laid there unseen; any other is "
        "shown and claimed in the order win (drawer first, then in turn), pao, peng, chi (drawer, then the next player). If "
        "nobody takes it, it is dead and the next player draws. If it was the last card and nobody won on it, the game is drawn.",
        "轮到者摸牌。王收入手中；成提、偎的不亮；其余亮出，依次问：胡（摸牌者先，其后依轮次）、跑、碰、吃（摸牌者，再下家）。无人要则作废，"
        "下家摸牌。最后一张摸完无人胡即荒庄。",
        ("turn.chi_from_upstream_draw",),
        "S, E for the order",
        "A drawn 九 that one player could peng and the drawer could chi: the peng is asked first.",
        "摸出九，一家能碰、摸牌者能吃：先问碰。",
        "engine._draw",
    ),
    Rule(
        "2.7",
        "ren_peng",
        "忍碰",
        "当有机会碰牌时，而自己不碰，则称为忍碰。不能忍提，忍偎，忍跑。",
        "A legal peng may be passed; ti, wei and pao may not.",
        "可以忍碰，不能忍提、忍偎、忍跑。",
        ("pass.blocks_peng",),
        "S",
        "Passing the peng of 九 blocks later pengs of 九 and makes a later wei a chou wei.",
        "忍碰九之后，九不能再碰；再偎则为臭偎。",
        "rules.claims.pass_peng",
    ),
    Rule(
        "2.8",
        "count_rule",
        "重跑",
        "当跑的牌超过1次时，称为重跑……此时不用从手中打牌出去，而要让下家摸牌。",
        "A player with q quads laid down has a quota of 20 + max(0, q − 1) cards. After the deal and after every gain he "
        "discards if and only if he owns more; else the turn passes to the next player's draw. A discard is a free card – of "
        "which one or two are held. If a discard is due and there is no free card, the hand is dead: it cannot win any more, "
        "still draws, and its ti, wei and pao stay automatic.",
        "有q次提或跑的，应有20＋max(0, q−1)张牌。发牌后和每次进牌后，多于此数才打牌，否则由下家摸牌。只能打手中一两张的散牌。该打而无牌可打，"
        "为死手：本局不能再胡，仍照常摸牌，提、偎、跑照旧。",
        ("turn.extra_quad",),
        "S, E for the exact form",
        "A first pao is followed by a discard, the second is not. A dealer dealt two ti does not discard.",
        "第一次跑后打牌，第二次跑后不打。庄家起手两提，不打牌。",
        "state.quota",
    ),
    Rule(
        "2.9",
        "chi",
        "吃牌",
        "上家出的或者自己摸的牌，示众后没有人碰牌或者跑牌，则可以与自己手中的牌组合成1句话，或者绞牌……放到桌面，称为吃牌。",
        "A run, 2-7-10 or jiao with the card that the player before discarded or drew, or with the own drawn card; its other "
        "cards are free cards. A chi that leaves a due discard without a free card is illegal.",
        "上家打出或摸出的牌、自己摸出的牌，可与手中散牌组成一句话或绞牌下桌。吃后该打而无牌可打的，不许吃。",
        ("turn.chi_from_upstream_draw",),
        "S, E, J for the last sentence",
        "三 is drawn; 一二 makes 一二三, 三叁 makes 三三叁.",
        "摸出三：有一二可吃一二三，有三叁可吃三三叁。",
        "rules.claims.chi_options",
    ),
    Rule(
        "2.10",
        "passing",
        "过张",
        "当有机会，吃，碰时，自己却没有吃、碰的牌，称为过张。过张后，自己不能再吃，碰同一张，直到这局游戏结束。",
        "By player and kind, to the end of the deal: chi is blocked after discarding the kind, and for whoever was asked by "
        "position and let it go, when nobody won, pao'd or peng'd it; peng after a legal peng was passed. A win is never blocked.",
        "按人按张，直到本局结束：自己打过的、轮到自己而没吃的，不能再吃（被胡、跑、碰走的不算）；忍碰过的不能再碰。胡不受限。",
        ("pass.blocks_chi", "pass.blocks_peng", "pass.own_discard_blocks_chi"),
        "S, E for the exact form",
        "The drawer takes the card by chi: the next player was not asked and is not blocked.",
        "摸牌者吃了，下家没有被问到，不算过张。",
        "rules.claims.pass_chi",
    ),
    Rule(
        "2.11",
        "bi",
        "比牌",
        "当吃的牌手中还有时，必须要将手中的这张牌根据某种组合，也要放到桌面，称为比牌。",
        "A chi lays down every free card of its kind: an option is a set of up to three groups, each with a card of the kind, that "
        "use the claimed card and all free ones. With three of the kind in hand there is no chi.",
        "吃牌时手中同样的散牌必须一并组好下桌，最多三组。手中有三张的不能吃。",
        (),
        "S",
        "二 claimed with 二二贰贰一三七十 in hand: 二二贰＋一二三, 二二贰＋二七十, or 二贰贰＋一二三＋二七十.",
        "吃二，手有二二贰贰一三七十：可下二二贰＋一二三，或二二贰＋二七十，或二贰贰＋一二三＋二七十。",
        "rules.claims._more_groups",
    ),
    Rule(
        "2.12",
        "group",
        "一方门子",
        "比如一句话，一绞牌，一碰，一提，一偎，一跑都称为1方门子。当有跑牌或提牌时，一对牌可以称为1方门子，叫做将，跑牌或提牌时，必须有一对将，否则就要掉将。",
        "Every run, jiao, peng, ti, wei, pao and kan is a group; with a ti or pao the pair is one too, and must be there.",
        "一句话、绞、碰、提、偎、跑、坎各为一方门子；有提或跑时，一对将也算一方，且必须有。",
        (),
        "S",
        "One quad, one pair and five threes: 4 + 2 + 15 = 21 cards, seven groups.",
        "一提、一将、五方三张：4＋2＋15＝21张，共七方。",
        "rules.arrange.plans_for",
    ),
    Rule(
        "2.13",
        "xing",
        "醒",
        "默认为双醒，在结算时，按单醒分别给庄家和醒家计算醒钱",
        "The xing card is the winning card (follow), the next wall card (flip) or none; K is its kind – if it is a wang, or "
        "there is no winning card, the kind that the winner has most of. A single xing is s = (ordinary cards of kind K "
        "among all the winner's) × fan. dealer_side, our reading: the xing is double, and the dealer's side carries it "
        "as two singles. Dealer wins: each loser pays him s and the sitter s. Another wins: the other loser pays 2s, the "
        "dealer s and the sitter s. any_winner: each loser pays the winner s and the sitter s. winner_only: each loser "
        "pays the winner 2s. With three seats always winner_only. singles 1 drops the second single.",
        "跟醒以所胡之牌为醒，翻醒以墩上下一张为醒；醒为王或没有所胡之牌时，取胡家最多的一种。单醒＝胡家全部牌中该种的张数×番数。"
        "预设 dealer_side（我们的理解）：双醒由庄家、醒家各担一份。庄胡：输家各付庄家一份、醒家一份；闲胡：另一输家付两份，庄家、醒家各付一份。"
        "any_winner：输家各付胡家一份、醒家一份；winner_only：输家各付胡家两份。三人时一律 winner_only。单醒去掉第二份。",
        ("xing.card", "xing.payment", "xing.singles"),
        "J",
        "Dealer wins with 8 fan and three cards of the kind: s = 24; each loser pays 24 to him and 24 to the sitter.",
        "庄家8番胡牌，醒牌三张：单醒24；输家各付庄家24、醒家24。",
        "rules.settle.settle_win",
    ),
    _huxi(
        "3.1", "ti", "提", "大字 12分,小字 9分", "9, 12", ("提:壹壹壹壹 counts 12.", "壹壹壹壹提，12胡息。")
    ),
    _huxi("3.2", "wei", "偎", "大字 6分,小字 3分", "3, 6", ("九九九 as wei counts 3.", "偎九九九，3胡息。")),
    _huxi(
        "3.3", "pao", "跑", "大字 9分,小字 6分", "6, 9", ("伍伍伍伍 as pao counts 9.", "跑伍伍伍伍，9胡息。")
    ),
    _huxi(
        "3.4", "peng", "碰", "大字 3分,小字 1分", "1, 3", ("五五五 as peng counts 1.", "碰五五五，1胡息。")
    ),
    _huxi(
        "3.5", "two_seven_ten", "二七十", "大字 6分,小字 3分", "3, 6", ("贰柒拾 counts 6.", "贰柒拾，6胡息。")
    ),
    _huxi(
        "3.6", "one_two_three", "一二三", "大字 6分,小字 3分", "3, 6", ("一二三 counts 3.", "一二三，3胡息。")
    ),
    _huxi(
        "3.7", "kan", "坎", "大字 6分,小字 3分", "3, 6", ("陆陆陆 in hand counts 6.", "手中陆陆陆，6胡息。")
    ),
    Rule(
        "3.8",
        "tun",
        "囤数计算",
        "从15胡息开始计算，15胡息为1囤，每增加3胡息增加1囤。不满3胡不算囤。",
        "tun = base + (huxi − min_huxi) / step, rounded down; base 1, step 3. Engines often take base 2.",
        "囤数＝起囤＋(胡息−起胡)÷3，舍去余数；起囤为1（不少程序取2）。",
        ("tun.base", "tun.step"),
        "S, J for the base",
        "15 and 17 huxi are 1 tun, 18 are 2, 21 are 3.",
        "15至17胡息1囤，18胡息2囤，21胡息3囤。",
        "rules.huxi.tun_of",
    ),
    Rule(
        "3.9",
        "payment",
        "付分",
        "",
        "Each of the two other active players pays the winner tun × fan, plus the xing of 2.13. Every payment, the wang payments "
        "too, is multiplied by stake. A cap cuts win and xing money of one payer to one payee, the win first; wang payments "
        "are not cut.",
        "两位输家各付胡家 囤×番，另加醒钱。所有收付（含赔王）都乘底分。设封顶时，一家付另一家的胡钱与醒钱合计不超过封顶，先扣胡钱；赔王不受封顶限制。",
        ("stake", "cap"),
        "E",
        "2 tun × 8 fan: each loser pays 16. With cap 20 and xing 24 he pays 16 and 4.",
        "2囤8番，输家各付16；若封顶20、醒钱24，则付16加4。",
        "rules.settle.pay",
    ),
    _fan(
        "4.1",
        "red",
        "红胡",
        "胡牌时，玩家牌中有≥10只红字，番数：2番。",
        "At least ten red cards, a wang as the card that it stands for: 2 fan.",
        "红字满10张（王按所代之牌算）：2番。",
        "red",
        ("吃:二七十 twice, 吃:贰柒拾 and 六七八: ten red.", "二七十两组、贰柒拾、六七八：正好十张红字。"),
    ),
    _fan(
        "4.2",
        "one_red",
        "一点朱",
        "胡牌时，玩家有且只有一只红字，番数：3番。",
        "Exactly one red card: 3 fan.",
        "有且只有一张红字：3番。",
        "one_red",
        ("五六七 as the only group with a red card.", "全副牌只有五六七里一张红字。"),
    ),
    _fan(
        "4.3",
        "black",
        "黑胡",
        "胡牌时，玩家没有红字，番数：4番。",
        "No red card: 4 fan.",
        "没有红字：4番。",
        "black",
        ("With an own draw 4 × 2 = 8 fan.", "黑胡自摸：4×2＝8番。"),
    ),
    Rule(
        "4.4",
        "zimo",
        "自摸",
        "胡牌时，所胡的那张牌是玩家自己从墩上摸上来的，番数：2番。",
        "The winner drew the card himself, or won on the deal: 2 fan. A wang special replaces it (the text's table, red 4, 8, 16 "
        "for own draw, single and double wang, fits only so).",
        "自己从墩上摸到的牌，或天胡：2番。王钓等名堂取代自摸（红胡自摸4倍、单王吊8倍、双王吊16倍，只有如此才对得上）。",
        ("fan.zimo", "fan.special_includes_zimo"),
        "S",
        "Red with an own draw: 2 × 2 = 4 fan; red with wang diao: 2 × 4 = 8.",
        "红胡自摸2×2＝4番；红胡王钓2×4＝8番。",
        "rules.fan.draw_fan",
    ),
    _fan(
        "4.5",
        "wang_diao",
        "王钓",
        "在手上有王霸的情况下，必须提或跑后其他手牌都成一处牌时，只剩下一张王的时候，才能单王钓，番数：4番。",
        "The pair is the winning card and one wang, so there is a ti or pao: 4 fan. Further wangs may serve elsewhere.",
        "将是所胡之牌加一张王（故必有提或跑）：4番。其余的王可用在别处。",
        "wang_diao",
        (
            "提:一一一一, five complete groups and 王: any card wins.",
            "提一一一一，五方已成，单剩一王：摸什么都胡。",
        ),
    ),
    _fan(
        "4.6",
        "wang_diao_wang",
        "王钓王",
        "单王钓时又钓到一个王霸，叫王钓王，番数：8番。",
        "The pair is two wangs, one of them just drawn: 8 fan.",
        "将为两张王，其中一张刚摸到：8番。",
        "wang_diao_wang",
        ("The hand of 4.5 drawing 王.", "上例摸到王。"),
    ),
    _fan(
        "4.7",
        "wang_chuang",
        "王闯",
        "在手上有两个王霸的情况下，其他牌都成一处牌后，只剩下两张王霸的时候，才能双王钓，番数：8番。",
        "Three alike are the winning card and two wangs: 8 fan.",
        "三张相同为所胡之牌加两张王：8番。",
        "wang_chuang",
        ("Six complete groups and 王王: drawing 九 makes 九王王.", "六方已成，剩王王，摸到九成九王王。"),
    ),
    _fan(
        "4.8",
        "wang_chuang_wang",
        "王闯王",
        "王闯时又闯到一个王霸，叫王闯王，番数：16番。",
        "The same, the winning card being a wang too: 16 fan.",
        "王闯时摸到的也是王：16番。",
        "wang_chuang_wang",
        ("王王 drawing 王.", "剩王王，又摸到王。"),
    ),
    _fan(
        "4.9",
        "wang_zha",
        "王炸",
        "在手上有三个王霸的情况下，其他牌都成一处牌后，手上只剩三张王霸的时候，即可以王炸，番数：16番。",
        "Four alike are the winning card and three wangs: 16 fan.",
        "四张相同为所胡之牌加三张王：16番。",
        "wang_zha",
        ("Five groups, a pair and 王王王: drawing 一 makes a ti.", "五方一对已成，剩王王王，摸到一成提。"),
    ),
    _fan(
        "4.10",
        "wang_zha_wang",
        "王炸王",
        "在手上有三个王霸的情况下，其他牌都成一处牌后，又摸到一张王霸可以胡牌，即可以王炸王，番数：32番。",
        "The same, the winning card being a wang too: 32 fan.",
        "王炸时摸到的也是王：32番。",
        "wang_zha_wang",
        ("王王王 drawing the fourth 王.", "剩王王王，摸到第四张王。"),
    ),
    Rule(
        "5.1",
        "least_huxi",
        "满15胡息",
        "满15胡息",
        "A win needs at least 15 huxi.",
        "至少15胡息方可胡牌。",
        ("win.min_huxi",),
        "S",
        "Seven groups with 14 huxi do not win.",
        "七方齐全而只有14胡息，不能胡。",
        "schema:win.min_huxi",
    ),
    Rule(
        "5.2",
        "seven_groups",
        "七方门子",
        "手里的与桌面上的牌组合有7方门子。",
        "Exactly seven groups. Without a quad seven threes (21 cards); with q ≥ 1 quads these, one pair and 6 − q threes "
        "(20 + q cards).",
        "正好七方。没有提、跑时七方各三张，共21张；有q方提、跑时，另须一将和6−q方，共20＋q张。",
        (),
        "S",
        "A second quad that leaves the hand a card short does not win.",
        "多提一方却少一张牌，不能胡。",
        "rules.arrange._complete",
    ),
    Rule(
        "5.3",
        "what_wins",
        "只能胡墩上的牌",
        "只能胡墩上的牌，示众后的牌，可以胡过张，胡自己或其他人要碰，跑的牌。不能胡任何人提或偎的牌。",
        "Only a card from the wall wins (or the deal); not one that another player ti's or wei's. On an own draw that makes a ti "
        "or wei the win must use the card there; but a wang special that was sure before the draw may be declared instead – "
        "sure: any of the 20 kinds would complete it, and it keeps enough huxi when the special group counts as its small "
        "value. On another's draw the card may join a kan, wei or peng as a pao or complete any other group, whichever scores more. "
        "Wangs may make a pair, three alike, any run or jiao, a ti, or lift a kan or own wei to a ti – never a peng to a pao. "
        "Of all arrangements the one with the greatest tun × fan within the limits counts, among equals the one with more huxi.",
        "只能胡从墩上摸出的牌（或天胡），别人提、偎的牌不能胡。自己摸成提、偎的牌须按提、偎来胡；但摸牌前已听死（二十种牌样样可胡，且按小字算胡息也够）"
        "的王钓、王闯、王炸，可以不提不偎直接胡。别家摸的牌，可并入坎、偎、碰成跑，也可凑别的门子，取分高的。王可作将、三张相同、句子、绞、提，"
        "也可把坎或自己的偎补成提，不能把碰补成跑。各种组法取囤×番最大且合限胡的；相同则取胡息多的。",
        ("win.forced_first", "win.declare_special", "wang.ti"),
        "S, E for forced moves and wangs",
        "陆陆陆 in hand with six complete groups and 王王: drawing 陆 may be declared as 陆王王, a wang chuang.",
        "手有陆陆陆，其余六方已成，剩王王：摸到陆，可以不提，直接以陆王王胡王闯。",
        "rules.arrange.evaluate",
    ),
)

UNSETTLED: tuple[tuple[str, str, str], ...] = (
    (
        "How the double xing is split between dealer and sitter: we let the dealer's side carry two singles "
        "(`xing.payment: dealer_side`).",
        "双醒如何在庄家与醒家之间分摊：预设由庄家一方各担一份（`xing.payment: dealer_side`）。",
        "xing.payment",
    ),
    (
        "Whom the doubling of a draw game concerns, and whether two wangs are doubled at all: the two active opponents, and no "
        "(`draw.wang_payout.all_in_one`).",
        "荒庄翻倍对谁、双王是否翻倍：对左右家；双王不再翻（`draw.wang_payout.all_in_one`）。",
        "draw.wang_payout.all_in_one",
    ),
    (
        "Which limit is standard with four wangs: the fan limit (`win.wang_limit.mode`).",
        "四王通行哪种限胡：取按番限胡（`win.wang_limit.mode`）。",
        "win.wang_limit.mode",
    ),
    (
        "Whether the dealer's 21st card is open: it is not (no key; it would change what the others know, not the rules).",
        "庄家第21张是否亮出：不亮（不设键；只影响别家所知，不影响规则）。",
        "",
    ),
    (
        "Whether the base tun is 1 or 2: 1 (`tun.base`).",
        "起囤算1还是2：取1（`tun.base`）。",
        "tun.base",
    ),
)


def rule(number: str) -> Rule:
    """The rule of a number.

    Raises
    ------
    KeyError
        If there is none.
    """
    for entry in RULES:
        if entry.number == number:
            return entry
    raise KeyError(number)


_INTRO = {
    "en": """# The rules of 永州扯胡子, numbered

[中文](rules.zh.md)

Three players hold 20 cards each, the dealer 21; a fourth may sit out and share in the money. Cards are small 一 to 十 and
large 壹 to 拾, four of each, and some wild cards, 王. In turn a card is drawn from the wall and shown: whoever it completes a
hand for may win on it; else it may be taken for three or four alike (peng, pao) or for a run (chi), and a card is
discarded. A hand wins with seven groups and at least 15 points of huxi, which groups of equal cards and two kinds of run
bring. Points become tun, colours and wild cards multiply them by fan, and the losers pay.

The texts of the game are quoted; where they are silent this document settles the point and names the key of a variant
that changes it. **S**: the texts say so. **E**: they are silent, and every public engine that was read does so. **J**: our
judgement; texts or engines differ, so the key matters. Cards are written 一…十, 壹…拾, 王; a group on the table 碰:壹壹壹.

This file is generated from `sim/rulebook.py`; `chehuzi rules` prints the table.
""",
    "zh": """# 永州扯胡子规则（逐条编号）

[English](rules.md)

三人打牌，每人20张，庄家21张；四人时庄家对家坐醒，只参与收付。字牌分小写一至十、大写壹至拾，每种四张，另有王霸。轮流从墩上
摸牌亮出：有人能胡先胡，否则依次跑、碰、吃，再打出一张。凑满七方门子、至少15胡息即可胡牌；胡息折成囤，名堂计番，输家照付。

每条先引原文；原文没说的，这里定下来，并注明改变它的键。**S** 原文如此；**E** 原文未说，各家程序都这样做；**J** 我们的判断，各处不一，
请留意该键。牌写作一…十、壹…拾、王；下桌的门子写作 碰:壹壹壹。

本文由 `sim/rulebook.py` 生成；`chehuzi rules --lang zh` 打印全表。
""",
}
_CHAPTERS = {
    "1": ("The table", "牌桌"),
    "2": ("Play", "打牌"),
    "3": ("Scoring", "计分"),
    "4": ("Fan", "名堂"),
    "5": ("Winning", "胡牌"),
}


def document(lang: str) -> str:
    """The rules document as Markdown, ``en`` or ``zh``."""
    place = 0 if lang == "en" else 1
    heads = (("number", "name", "中文", "keys", "mark"), ("条", "名称", "中文", "键", "依据"))[place]
    lines = [_INTRO[lang], "| " + " | ".join(heads) + " |", "|---|---|---|---|---|"]
    for entry in RULES:
        keys = ", ".join(f"`{name}`" for name in entry.keys)
        lines.append(f"| {entry.number} | {entry.name} | {entry.zh} | {keys} | {entry.mark(lang)} |")
    chapter = ""
    for entry in RULES:
        if entry.number.split(".")[0] != chapter:
            chapter = entry.number.split(".")[0]
            lines += ["", f"## {chapter} {_CHAPTERS[chapter][place]}"]
        lines += ["", f"### {entry.number} {entry.name} {entry.zh}", ""]
        if entry.quote:
            lines += [f"> {entry.quote}", ""]
        text = (entry.summary_en, entry.summary_zh)[place]
        lines.append(f"{text} **[{entry.mark(lang)}]**")
        if entry.keys:
            label = ("Keys: ", "键：")[place]
            lines += ["", label + ", ".join(f"`{name}`" for name in entry.keys)]
        example = (entry.example_en, entry.example_zh)[place]
        if example:
            lines += ["", (f"*Example.* {example}", f"例：{example}")[place]]
    title = ("Not settled by any source", "没有资料能定论的")[place]
    lines += ["", f"## {title}", ""]
    lines += [f"* {item[place]}" for item in UNSETTLED]
    return "\n".join(lines) + "\n"
