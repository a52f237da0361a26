"""Reports: one interactive page that shows a factorization, and its figures in words.

>>> import wavemmf as wm
>>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
>>> "<title>karate" in wm.report.report_html(f, wm.graphs.karate())
True
"""

from __future__ import annotations

from ._page import report_html, write_report

__all__ = ["report_html", "write_report"]
