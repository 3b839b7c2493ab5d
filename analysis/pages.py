"""Small documents: one list of blocks, written as Markdown and as one self-contained HTML page in two languages."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    """A heading of level 1, 2 …"""

    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; ``tone`` is ``good``, ``bad``, ``open`` or empty."""

    text: str
    tone: str = ""


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """A table; numbers stand to the right from the column ``right`` on."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: int = 1


@dataclass(frozen=True)
class Code:
    """Text as it is."""

    text: str


@dataclass(frozen=True)
class Picture:
    """A picture as SVG, with the sentence for those who do not see it. Markdown has the sentence only."""

    svg: str
    words: str


Block = Heading | Paragraph | Items | Grid | Code | Picture


def markdown(blocks: Sequence[Block]) -> str:
    """Write blocks as Markdown."""
    parts: list[str] = []
    for block in blocks:
        match block:
            case Heading(level, text):
                parts.append(f"{'#' * level} {text}")
            case Paragraph(text, tone):
                parts.append(f"**{text}**" if tone else text)
            case Items(items):
                parts.append("\n".join(f"* {item}" for item in items))
            case Grid(head, rows, right):
                marks = ["---" if number < right else "---:" for number in range(len(head))]
                lines = [head, marks, *rows]
                parts.append(
                    "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)
                )
            case Code(text):
                parts.append(f"```\n{text.rstrip()}\n```")
            case Picture():
                pass
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _body(blocks: Sequence[Block]) -> str:
    parts: list[str] = []
    for block in blocks:
        match block:
            case Heading(level, text):
                parts.append(f"<h{level}>{_inline(text)}</h{level}>")
            case Paragraph(text, tone):
                mark = f' class="{tone}"' if tone else ""
                parts.append(f"<p{mark}>{_inline(text)}</p>")
            case Items(items):
                parts.append("<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in items) + "</ul>")
            case Grid(head, rows, right):
                top = "".join(_td(cell, number >= right, "th") for number, cell in enumerate(head))
                lines = [
                    "<tr>"
                    + "".join(_td(cell, number >= right, "td") for number, cell in enumerate(row))
                    + "</tr>"
                    for row in rows
                ]
                parts.append(
                    f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
                )
            case Code(text):
                parts.append(f"<pre>{html.escape(text.rstrip())}</pre>")
            case Picture(svg, words):
                parts.append(f'<figure role="img" aria-label="{html.escape(words)}">{svg}</figure>')
    return "\n".join(parts)


def _td(text: str, right: bool, tag: str) -> str:
    mark = ' class="n"' if right else ""
    return f"<{tag}{mark}>{_inline(text)}</{tag}>"


def _inline(text: str) -> str:
    """Escape, and show what stands between backquotes as code."""
    pieces = html.escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if number % 2 else piece for number, piece in enumerate(pieces))


_STYLE = """
:root{--ink:#1d2430;--soft:#5c6675;--line:#d9dee6;--back:#fff;--tint:#f3f5f8;--good:#1b7f4b;--bad:#b3261e;--open:#8a6100}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#a2acba;--line:#3a424e;--back:#14181e;--tint:#1d232b;
--good:#5fd39a;--bad:#ff8a80;--open:#e5bd5a}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);font:16px/1.6 system-ui,"PingFang SC","Microsoft YaHei","WenQuanYi Micro Hei",sans-serif}
main{max-width:62rem;margin:0 auto;padding:1rem 1.25rem 4rem}
h1{font-size:1.7rem;line-height:1.25;margin:1.2rem 0 .6rem}h2{font-size:1.2rem;margin:2.2rem 0 .5rem}
p.good,p.bad,p.open{font-weight:600;padding:.7rem 1rem;background:var(--tint);border-left:.35rem solid}
p.good{border-color:var(--good)}p.bad{border-color:var(--bad)}p.open{border-color:var(--open)}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .8rem .3rem 0;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--soft);font-weight:600}.n{text-align:right;white-space:nowrap}
pre{background:var(--tint);padding:.8rem 1rem;overflow-x:auto;font-size:.85rem;line-height:1.45}
code{font-size:.92em;background:var(--tint);padding:.05em .3em;border-radius:.2em}
figure{margin:1rem 0}svg{max-width:100%;height:auto}svg text{fill:var(--ink);font-size:13px}
svg .soft{fill:var(--soft)}svg .axis{stroke:var(--line)}
input[name=lang]{position:absolute;opacity:0}label{cursor:pointer;margin-right:1rem;color:var(--soft)}
input:focus-visible+label{outline:2px solid var(--ink)}
#en:checked~label[for=en],#zh:checked~label[for=zh]{color:var(--ink);font-weight:600;border-bottom:2px solid}
#en:checked~article[lang=zh],#zh:checked~article[lang=en]{display:none}
"""


def page(title: str, bodies: Mapping[str, Sequence[Block]], first: str = "en") -> str:
    """One HTML page with both languages and a switch; it loads nothing from elsewhere.

    Parameters
    ----------
    title : str
    bodies : mapping
        ``en`` and ``zh`` to blocks.
    first : str
        Language shown first.
    """
    names = {"en": "English", "zh": "中文"}
    switch = "".join(
        f'<input type="radio" name="lang" id="{lang}"{" checked" if lang == first else ""}>'
        f'<label for="{lang}">{names[lang]}</label>'
        for lang in bodies
    )
    articles = "\n".join(
        f'<article lang="{lang}">\n{_body(blocks)}\n</article>' for lang, blocks in bodies.items()
    )
    return (
        f'<!doctype html>\n<html lang="{first}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><main>{switch}\n{articles}\n</main></body></html>\n"
    )


def forest(
    rows: Sequence[tuple[str, float, float | None, float | None, str]],
    band: tuple[float | None, float | None],
    title: str,
    percent: bool = False,
) -> str:
    """A forest plot as SVG: one value with its interval a row, and the band in which it shall lie.

    Parameters
    ----------
    rows : sequence of (name, value, low, high, verdict)
        Verdict is ``met``, ``missed``, ``open`` or empty.
    band : (low, high)
        Ends of the target; None: open.
    title : str
    percent : bool
        Show shares as %.
    """
    ends = [end for _, value, low, high, _ in rows for end in (value, low, high) if end is not None]
    ends += [end for end in band if end is not None]
    least, most = min(ends), max(ends)
    pad = (most - least) * 0.08 or 1.0
    least, most = least - pad, most + pad
    left, width, step = 210, 440, 26
    height = 44 + step * len(rows)

    def x(value: float) -> float:
        return round(left + (value - least) / (most - least) * width, 1)

    tones = {"met": "var(--good)", "missed": "var(--bad)", "open": "var(--open)"}
    parts = [f'<text x="0" y="14" font-weight="600">{html.escape(title)}</text>']
    if band != (None, None):
        begin = x(band[0]) if band[0] is not None else left
        end = x(band[1]) if band[1] is not None else left + width
        parts.append(
            f'<rect x="{begin}" y="22" width="{round(end - begin, 1)}" height="{height - 42}" fill="var(--good)" opacity=".13"/>'
        )
    for number, (name, value, low, high, verdict) in enumerate(rows):
        y = 38 + step * number
        tone = tones.get(verdict, "var(--soft)")
        parts.append(f'<text x="0" y="{y + 4}">{html.escape(name)}</text>')
        if low is not None and high is not None:
            parts.append(
                f'<line x1="{x(low)}" x2="{x(high)}" y1="{y}" y2="{y}" stroke="{tone}" stroke-width="3"/>'
            )
        parts.append(f'<circle cx="{x(value)}" cy="{y}" r="4.5" fill="{tone}"/>')
    base = height - 16
    parts.append(f'<line class="axis" x1="{left}" x2="{left + width}" y1="{base - 4}" y2="{base - 4}"/>')
    factor, unit = (100, " %") if percent else (1, "")
    for number in range(5):
        at = least + (most - least) * number / 4
        parts.append(
            f'<text class="soft" x="{x(at)}" y="{base + 11}" text-anchor="middle">{at * factor:.3g}{unit}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 30} {height + 4}" '
        f'width="{left + width + 30}">{"".join(parts)}</svg>'
    )
