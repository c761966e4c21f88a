"""The report as a PDF of one page, A4, with its fonts inside."""

from __future__ import annotations

import io
from functools import cache
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape

from reportlab.graphics.shapes import Circle, Drawing, Line, String
from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import (
    Flowable,
    Frame,
    KeepInFrame,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)
from reportlab.platypus.doctemplate import BaseDocTemplate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.advice.reports.content import Choice, Figure, Report

INK, SOFT, LINE, MARK, FILL = (
    HexColor(c) for c in ("#1c2430", "#566173", "#d9dee6", "#1f5fbf", "#f3f6fa")
)
OTHER: Final = HexColor("#8a94a6")
MARGIN: Final = 14 * mm
WIDTH: Final = A4[0] - 2 * MARGIN
GAP: Final = 6 * mm
ROW: Final = 13.0
LABEL: Final = 125.0
VALUE: Final = 55.0


def pdf_of(report: Report) -> bytes:
    """Return the report as PDF; the same report gives the same bytes.

    What does not fit on the page is made smaller. Signs that the fonts lack (other scripts than
    Latin) stand as a question mark.
    """
    _fonts()
    out = io.BytesIO()
    document = BaseDocTemplate(
        out, pagesize=A4, title=f"{report.title}: plan {report.plan_id}", author="Training advisor",
        subject="Which machines, at what cost, and how sure", invariant=1, lang="en",
    )  # fmt: skip
    height = A4[1] - 2 * MARGIN
    frame = Frame(MARGIN, MARGIN, WIDTH, height, 0, 0, 0, 0)
    document.addPageTemplates([PageTemplate(frames=[frame])])
    document.build([KeepInFrame(WIDTH, height, _story(report), mode="shrink")])
    return out.getvalue()


@cache
def _fonts() -> None:
    """Make the fonts known; they come with the library and are put into the file."""
    for name, file in (("Body", "Vera.ttf"), ("Bold", "VeraBd.ttf")):
        pdfmetrics.registerFont(TTFont(name, file))
    pdfmetrics.registerFontFamily("Body", normal="Body", bold="Bold", italic="Body",
                                  boldItalic="Bold")  # fmt: skip


def _style(size: float, colour: HexColor = INK, *, bold: bool = False, right: bool = False,
           after: float = 0.0, before: float = 0.0) -> ParagraphStyle:  # fmt: skip
    return ParagraphStyle(
        f"{size}{colour}{bold}{right}", fontName="Bold" if bold else "Body", fontSize=size,
        leading=size * 1.32, textColor=colour, alignment=2 if right else 0, spaceAfter=after,
        spaceBefore=before, splitLongWords=1,
    )  # fmt: skip


def _text(text: str, size: float = 7.6, **style: object) -> Paragraph:
    return Paragraph(escape(_known(text)), _style(size, **style))  # type: ignore[arg-type]  # passed on


def _known(text: str) -> str:
    """Return the text with a question mark for every sign that the font lacks."""
    glyphs = pdfmetrics.getFont("Body").face.charToGlyph
    return "".join(s if ord(s) in glyphs else "?" for s in text)


def _head(text: str) -> Paragraph:
    return _text(text.upper(), 6.4, colour=SOFT, bold=True, before=8, after=2.5)


def _story(report: Report) -> list[Flowable]:
    half = (WIDTH - GAP) / 2
    left = [_head("The job"), _pairs(report.job, half)]
    right = [_head("What it costs"), _pairs(report.bill, half, total=report.bill_total),
             _text(report.bill_note, 6.4, colour=SOFT, before=2)]  # fmt: skip
    assumed = [
        _head("What was assumed"),
        *(_text(f"• {one}", after=1) for one in report.assumptions),
    ]
    limits = [_head("The limits that were set"),
              _pairs(report.limits, half) if report.limits
              else _text("None were recorded.", colour=SOFT)]  # fmt: skip
    return [
        _text(report.title, 17, bold=True),
        _text("Which machines, at what cost, and how sure", 8, colour=SOFT, after=7),
        _choice_box(report),
        Spacer(1, 6),
        _figures(report.figures),
        Spacer(1, 7),
        _columns(left, right, half),
        _head("The choice and what else was possible"),
        _chart(report.choices),
        Spacer(1, 3),
        _choices(report.choices),
        _head("The runner-up, and why not"),
        _text(report.runner_up),
        Spacer(1, 7),
        _columns(assumed, limits, half),
        Spacer(1, 8),
        _origin(report.origin),
    ]


def _choice_box(report: Report) -> Table:
    cell = [_text(report.machines, 11.5, bold=True), _text(report.place, 8),
            _text(report.reason, 8, before=2)]  # fmt: skip
    return Table([[cell]], colWidths=[WIDTH], style=TableStyle([
        ("BACKGROUND", (0, 0), (-1, -1), FILL), ("LINEBEFORE", (0, 0), (0, -1), 3, MARK),
        ("LEFTPADDING", (0, 0), (-1, -1), 9), ("TOPPADDING", (0, 0), (-1, -1), 6),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 7),
    ]))  # fmt: skip


def _figures(figures: Sequence[Figure]) -> Table:
    cells = [
        [_text(one.name, 6.6, colour=SOFT), _text(one.value, 13, bold=True),
         _text(one.note, 6.6, colour=SOFT)]
        for one in figures
    ]  # fmt: skip
    return Table([cells], colWidths=[WIDTH / len(cells)] * len(cells), style=TableStyle([
        ("BOX", (0, 0), (-1, -1), 0.5, LINE), ("INNERGRID", (0, 0), (-1, -1), 0.5, LINE),
        ("VALIGN", (0, 0), (-1, -1), "TOP"), ("LEFTPADDING", (0, 0), (-1, -1), 7),
    ]))  # fmt: skip


def _columns(left: list[Flowable], right: list[Flowable], half: float) -> Table:
    return Table([[left, "", right]], colWidths=[half, GAP, half], style=TableStyle([
        ("VALIGN", (0, 0), (-1, -1), "TOP"), ("LEFTPADDING", (0, 0), (-1, -1), 0),
        ("RIGHTPADDING", (0, 0), (-1, -1), 0), ("TOPPADDING", (0, 0), (-1, -1), 0),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 0),
    ]))  # fmt: skip


def _pairs(pairs: Iterable[tuple[str, str]], width: float, total: str = "") -> Table:
    right = bool(total)
    rows = [[_text(name, colour=SOFT), _text(value, right=right)] for name, value in pairs]
    if total:
        rows.append([_text("All of it, median", bold=True), _text(total, bold=True, right=True)])
    share = 0.66 if right else 0.38
    return Table(rows, colWidths=[share * width, (1 - share) * width], style=_lines())


def _lines() -> TableStyle:
    return TableStyle([
        ("LINEBELOW", (0, 0), (-1, -1), 0.4, LINE), ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LEFTPADDING", (0, 0), (-1, -1), 0), ("RIGHTPADDING", (0, 0), (-1, -1), 8),
        ("TOPPADDING", (0, 0), (-1, -1), 1.6), ("BOTTOMPADDING", (0, 0), (-1, -1), 2.2),
    ])  # fmt: skip


def _choices(choices: Sequence[Choice]) -> Table:
    head = ["", "Machines", "Cost, 90 %", "Time, 90 %", "Against this plan"]
    rows: list[list[object]] = [
        [_text(name, 6.6, colour=SOFT, right=2 <= i <= 3) for i, name in enumerate(head)]
    ]
    for at, one in enumerate(choices):
        bold = at == 0
        rows.append([
            _text(one.name, bold=bold),
            [_text(one.machines, bold=bold), _text(one.place, 6.4, colour=SOFT)],
            [_text(one.cost, bold=bold, right=True),
             _text(one.cost_bounds, 6.4, colour=SOFT, right=True)],
            [_text(one.time, bold=bold, right=True),
             _text(one.time_bounds, 6.4, colour=SOFT, right=True)],
            _text(one.verdict),
        ])  # fmt: skip
    shares = (0.17, 0.27, 0.16, 0.13, 0.27)
    return Table(rows, colWidths=[share * WIDTH for share in shares], style=_lines())


def _chart(choices: Sequence[Choice]) -> Drawing:
    """Return the cost of every choice with its interval, on one scale from zero."""
    most = max(one.high_usd for one in choices) or 1.0
    scale = (WIDTH - LABEL - VALUE) / most
    drawing = Drawing(WIDTH, ROW * len(choices))
    for at, one in enumerate(choices):
        y = ROW * (len(choices) - at - 0.5)
        colour = MARK if at == 0 else OTHER
        low, value, high = (LABEL + scale * v for v in (one.low_usd, one.value_usd, one.high_usd))
        small = {"fontName": "Body", "fontSize": 7, "fillColor": INK}
        drawing.add(String(0, y - 2.5, _known(one.name[:30]), **small))
        drawing.add(Line(low, y, high, y, strokeColor=colour, strokeWidth=2.4, strokeOpacity=0.5,
                         strokeLineCap=1))  # fmt: skip
        drawing.add(Circle(value, y, 3, fillColor=colour, strokeColor=None))
        drawing.add(String(high + 5, y - 2.5, _known(one.cost), **small))
    return drawing


def _origin(lines: Iterable[str]) -> Table:
    cell = [_text(line, 6.2, colour=SOFT) for line in lines]
    return Table([[cell]], colWidths=[WIDTH], style=TableStyle([
        ("LINEABOVE", (0, 0), (-1, 0), 0.5, LINE), ("LEFTPADDING", (0, 0), (-1, -1), 0),
    ]))  # fmt: skip
