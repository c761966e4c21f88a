"""The report as one HTML file that needs nothing else, for a screen or a printer."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.advice.reports.content import Choice, Figure, Report

STYLE: Final = """
:root { color-scheme: light; --ink: #1c2430; --soft: #566173; --line: #d9dee6; --mark: #1f5fbf;
  --fill: #f3f6fa; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: var(--ink);
  font: 14px/1.45 "Source Sans 3", "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
main { max-width: 860px; margin: 0 auto; padding: 28px 24px; }
h1 { font-size: 24px; line-height: 1.2; margin: 0 0 2px; overflow-wrap: anywhere; }
h2 { font-size: 12px; letter-spacing: .06em; text-transform: uppercase; color: var(--soft);
  margin: 20px 0 6px; }
p { margin: 0 0 6px; overflow-wrap: anywhere; }
.choice { border-left: 4px solid var(--mark); background: var(--fill); padding: 12px 16px;
  margin: 14px 0; }
.choice strong { font-size: 18px; overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 10px; }
.figure { border: 1px solid var(--line); border-radius: 6px; padding: 10px 12px; }
.figure b { display: block; font-size: 21px; line-height: 1.25; }
.soft, .figure span { color: var(--soft); font-size: 12.5px; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(290px, 1fr)); gap: 0 28px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: 4px 10px 4px 0;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; font-weight: 400; }
thead th { color: var(--soft); font-size: 12.5px; }
.pairs th { color: var(--soft); width: 45%; }
.pairs td.sum, .pairs th.sum { font-weight: 600; color: var(--ink); }
.amount, .amount th { text-align: right; white-space: nowrap; }
.scroll { overflow-x: auto; }
.chosen td, .chosen th { font-weight: 600; }
svg { width: 100%; height: auto; display: block; }
ul { margin: 0; padding-left: 18px; } li { margin-bottom: 3px; overflow-wrap: anywhere; }
footer { margin-top: 18px; padding-top: 8px; border-top: 1px solid var(--line);
  color: var(--soft); font-size: 12px; }
.scroll svg { min-width: 600px; }
@media (max-width: 640px) { main { padding: 18px 14px; } .rivals thead { display: none; }
  .rivals tr { display: grid; grid-template-columns: 1fr 1fr; padding: 8px 0;
    border-bottom: 1px solid var(--line); }
  .rivals th, .rivals td { border: 0; padding: 1px 0; text-align: left; }
  .rivals th, .rivals td:nth-child(2), .rivals td:last-child { grid-column: 1 / -1; } }
@page { size: A4; margin: 11mm; }
@media print { body { font-size: 9.6px; } main { padding: 0; max-width: none; }
  h1 { font-size: 17px; } h2 { margin: 9px 0 2px; font-size: 9px; } svg { max-height: 88px; }
  body { line-height: 1.32; } li { margin-bottom: 1px; } .choice p { margin: 0 0 2px; }
  .choice { padding: 7px 12px; margin: 8px 0; } .choice strong { font-size: 14px; }
  .figure { padding: 6px 9px; } .figure b { font-size: 14px; }
  .two { grid-template-columns: 1fr 1fr; }
  .figures { grid-template-columns: repeat(4, 1fr); } th, td { padding: 2px 8px 2px 0; }
  .soft, .figure span, thead th { font-size: 8.6px; } footer { font-size: 8.4px; } }
"""
# Nothing is fetched and nothing runs, whatever a name holds.
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
ROW: Final = 26
WIDTH: Final = 800
LABEL: Final = 210
VALUE: Final = 90


def html_of(report: Report) -> str:
    """Return the report as HTML; everything that was given is escaped."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_t(report.title)}: plan {_t(report.plan_id)}</title>\n"
        f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{_body(report)}</main>\n</body>\n</html>\n"
    )


def _body(report: Report) -> str:
    return (
        f'<h1>{_t(report.title)}</h1>\n<p class="soft">Which machines, at what cost, and how sure'
        f'</p>\n<div class="choice"><strong>{_t(report.machines)}</strong>'
        f"<p>{_t(report.place)}</p><p>{_t(report.reason)}</p></div>\n"
        f'<div class="figures">{"".join(_figure(one) for one in report.figures)}</div>\n'
        '<div class="two">\n<section>'
        f"<h2>The job</h2>{_pairs(report.job)}</section>\n"
        f"<section><h2>What it costs</h2>{_pairs(report.bill, total=report.bill_total)}"
        f'<p class="soft">{_t(report.bill_note)}</p></section>\n</div>\n'
        "<h2>The choice and what else was possible</h2>\n"
        f'<div class="scroll">{_chart(report.choices)}</div>\n'
        f'<div class="scroll">{_table(report.choices)}</div>\n'
        f"<h2>The runner-up, and why not</h2>\n<p>{_t(report.runner_up)}</p>\n"
        '<div class="two">\n<section><h2>What was assumed</h2><ul>'
        f"{''.join(f'<li>{_t(line)}</li>' for line in report.assumptions)}</ul></section>\n"
        f"<section><h2>The limits that were set</h2>{_limits(report)}</section>\n</div>\n"
        f"<footer>{'<br>'.join(_t(line) for line in report.origin)}</footer>\n"
    )


def _t(text: str) -> str:
    return escape(text, quote=True)


def _figure(figure: Figure) -> str:
    return (
        f'<div class="figure"><span>{_t(figure.name)}</span><b>{_t(figure.value)}</b>'
        f"<span>{_t(figure.note)}</span></div>"
    )


def _pairs(pairs: Iterable[tuple[str, str]], total: str = "") -> str:
    amount = ' class="amount"' if total else ""
    rows = [
        f'<tr><th scope="row">{_t(name)}</th><td{amount}>{_t(value)}</td></tr>'
        for name, value in pairs
    ]
    if total:
        rows.append(
            '<tr><th scope="row" class="sum">All of it, median</th>'
            f'<td class="amount sum">{_t(total)}</td></tr>'
        )
    return f'<table class="pairs"><tbody>{"".join(rows)}</tbody></table>'


def _limits(report: Report) -> str:
    return _pairs(report.limits) if report.limits else '<p class="soft">None were recorded.</p>'


def _table(choices: tuple[Choice, ...]) -> str:
    head = "".join(
        f'<th scope="col"{kind}>{name}</th>'
        for name, kind in (("", ""), ("Machines", ""), ("Cost, 90 %", ' class="amount"'),
                           ("Time, 90 %", ' class="amount"'), ("Against this plan", ""))
    )  # fmt: skip
    rows = [
        f"<tr{'' if at else ' class=chosen'}>"
        f'<th scope="row">{_t(one.name)}</th>'
        f'<td>{_t(one.machines)}<br><span class="soft">{_t(one.place)}</span></td>'
        f'<td class="amount">{_t(one.cost)}<br><span class="soft">{_t(one.cost_bounds)}</span></td>'
        f'<td class="amount">{_t(one.time)}<br><span class="soft">{_t(one.time_bounds)}</span></td>'
        f"<td>{_t(one.verdict)}</td></tr>"
        for at, one in enumerate(choices)
    ]
    body = "".join(rows)
    return f'<table class="rivals"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _chart(choices: tuple[Choice, ...]) -> str:
    """Return the cost of every choice with its interval, on one scale from zero."""
    most = max(one.high_usd for one in choices) or 1.0
    scale = (WIDTH - LABEL - VALUE) / most
    parts = []
    for at, one in enumerate(choices):
        y = ROW * at + ROW / 2
        low, value, high = (LABEL + scale * v for v in (one.low_usd, one.value_usd, one.high_usd))
        colour = "#1f5fbf" if at == 0 else "#8a94a6"
        parts.append(
            f'<text x="0" y="{y + 4:.1f}" font-size="13" fill="#1c2430">{_t(one.name[:34])}</text>'
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}" '
            f'stroke-width="4" stroke-linecap="round" opacity="0.45"/>'
            f'<circle cx="{value:.1f}" cy="{y:.1f}" r="5.5" fill="{colour}"/>'
            f'<text x="{high + 9:.1f}" y="{y + 4:.1f}" font-size="13" fill="#1c2430">'
            f"{_t(one.cost)}</text>"
        )
    said = ", ".join(f"{one.name} {one.cost}, {one.cost_bounds}" for one in choices)
    return (
        f'<svg viewBox="0 0 {WIDTH} {ROW * len(choices)}" preserveAspectRatio="xMinYMid" '
        f'role="img" aria-label="Cost with 90 % intervals: {_t(said)}">{"".join(parts)}</svg>'
    )
