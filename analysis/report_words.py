"""Words of reports, in English and Chinese."""

from __future__ import annotations

from analysis.metrics import Text

WORDS: dict[str, Text] = {
    "title": Text("Report: {names}", "报告：{names}"),
    "switch": Text("English", "中文"),
    "h_asked": Text("What was asked", "问题"),
    "h_answer": Text("The answer", "结论"),
    "h_key": Text("Key figures", "主要数字"),
    "h_findings": Text("Differences, deal by deal", "逐局配对的差别"),
    "h_rules": Text("How the rules differ", "规则有何不同"),
    "h_par": Text("PAR sheet", "PAR 表"),
    "h_plots": Text("Plots", "图"),
    "h_method": Text("Method and provenance", "方法与来历"),
    "asked_one": Text("What comes out of the rules of {names}?", "{names} 这套规则打下来是什么样？"),
    "asked_many": Text("What do the rules of {names} change?", "{names} 的规则带来哪些不同？"),
    "asked_how": Text(
        "Asked of {games} simulated games of each variant, played by bots ({bots}). Bots play differently from "
        "people: trust differences between variants more than the absolute numbers.",
        "每种规则模拟 {games} 局，由机器人（{bots}）打出。机器人与真人打法不同：各规则之间的差别比绝对数字更可信。",
    ),
    "answer_draw_rate_one": Text(
        "Under {least}, {low} of games end without a winner.", "{least} 有 {low} 的局荒庄。"
    ),
    "answer_draw_rate_many": Text(
        "The rate of draw games ranges from {low} ({least}) to {high} ({most}){overlap}.",
        "荒庄率从 {low}（{least}）到 {high}（{most}）{overlap}。",
    ),
    "answer_dealer_advantage_one": Text(
        "The dealer comes out {low} points a game ahead of the two other players.",
        "庄家每局比另外两家多得 {low} 分。",
    ),
    "answer_dealer_advantage_many": Text(
        "The dealer's lead over the two other players ranges from {low} points a game ({least}) to {high} "
        "({most}){overlap}.",
        "庄家每局比另外两家多得的分，从 {low} 分（{least}）到 {high} 分（{most}）{overlap}。",
    ),
    "answer_sd_score_one": Text(
        "A player's result of one game has a standard deviation of {low} points.",
        "一家一局得分的标准差为 {low} 分。",
    ),
    "answer_sd_score_many": Text(
        "The standard deviation of a player's game, the measure of its swings, ranges from {low} points ({least}) to "
        "{high} ({most}){overlap}.",
        "一家一局得分的标准差（起伏之大小）从 {low} 分（{least}）到 {high} 分（{most}）{overlap}。",
    ),
    "overlap": Text(
        "; these intervals overlap, so which is larger is not settled by them",
        "；两者区间重叠，仅凭此不能断定孰大",
    ),
    "games": Text("games", "局数"),
    "intervals": Text(
        "With {level} intervals: a ± b (the longer side) or [low, high]; “–”: does not apply.",
        "附 {level} 置信区间：a ± b（取较长一侧）或 [下限, 上限]；“–”表示不适用。",
    ),
    "par_frequency": Text("How often: 1 in N games", "多常见：几局一次"),
    "par_transfers": Text("Share of all money transferred", "占全部输赢"),
    "par_volatility": Text("Volatility and tails", "波动与尾部"),
    "par_draws": Text("Payouts of draw games", "荒庄赔付"),
    "par_note": Text(
        "Tails are those of all money that changes hands in a game. Names overlap, so their shares do not add up.",
        "尾部指一局中易手的全部分数。名堂可重叠，各项占比相加不等于全部。",
    ),
    "par_note_sessions": Text(
        "No tail quantiles: the games of a session depend on each other. Names overlap, so their shares do not add up.",
        "同一场内各局相互关联，不列尾部分位数。名堂可重叠，各项占比相加不等于全部。",
    ),
    "quantile": Text("transfers of a game, {percent} % quantile", "一局输赢总额的 {percent}% 分位"),
    "shortfall": Text(
        "mean of the largest {rest} % (expected shortfall)", "最大的 {rest}% 的平均（期望损失）"
    ),
    "too_few": Text(" (too few)", "（太少）"),
    "pays": Text("draw game pays {amount}", "荒庄赔 {amount}"),
    "against": Text("{two} against {one} · {title}", "{two} 对 {one} · {title}"),
    "same_rules": Text("No difference in the rules.", "规则没有差别。"),
    "as_preset": Text("As the preset {preset}.", "同预设 {preset}。"),
    "partial": Text(
        "A run is not complete: the figures are those of the games played so far, and differences are not paired.",
        "有的运行尚未完成：数字只含已打的局，且不作配对比较。",
    ),
    "unpaired": Text(
        "The variants are not compared deal by deal: that takes one complete run with all of them.",
        "各规则未作逐局配对比较：须在同一次完整的运行中打出。",
    ),
    "method": Text(
        "Every variant of a run plays the same deals, so that differences are taken deal by deal. Shares have Wilson "
        "intervals, means with heavy tails bootstrap-t intervals, games within sessions are taken together. Intervals "
        "of differences hold for all claims at once, decisions are by Holm.",
        "同一次运行中各规则打同样的牌，差别逐局配对计算。比例用 Wilson 区间，厚尾均值用 bootstrap-t 区间，"
        "同一场的局合并处理。差的区间对全部结论同时成立，判断按 Holm 法。",
    ),
    "no_sessions": Text("none, games stand alone", "无，各局独立"),
    "n_games": Text("{games} games of each of {variants} variants", "{variants} 种规则，每种 {games} 局"),
    "unfinished": Text(" (unfinished: {done} of {total} games)", "（未完成：{done} / {total} 局）"),
    "p_run": Text("Run", "运行"),
    "p_seed": Text("Seed", "种子"),
    "p_n": Text("n", "n"),
    "p_bots": Text("Bots: dealer, next, third", "机器人：庄家、庄下家、庄上家"),
    "p_sessions": Text("Games a session", "每场局数"),
    "p_played": Text("Played", "打出时间"),
    "p_hashes": Text("Hashes of the rules", "规则哈希"),
    "p_code": Text("Digests of code and versions / of the code", "代码与版本 / 代码的摘要"),
    "p_versions": Text("Versions", "版本"),
    "p_command": Text("Play it again", "重打命令"),
    "p_made": Text("Report made", "报告生成"),
    "p_report": Text("Make this report again", "重做此报告"),
}
