"""The report for the one who pays: one page, as HTML or PDF."""

from advisor.advice.reports.content import Report, report_of
from advisor.advice.reports.page import html_of
from advisor.advice.reports.pdf import pdf_of

__all__ = ["Report", "html_of", "pdf_of", "report_of"]
