"""The report: one HTML file from any views, that opens offline and can be printed.

Way of the data: measure -> recording -> infer -> *show*. A capability hands over `View`s
(`view.py`); the report puts them on a page (`page.py`), adds the evidence that every recording
carries (`evidence.py`) and writes files beside it (`files.py`). It knows no capability by name and
computes nothing.
"""

from tare.report.view import Column, Doubt, Figure, Table, View

__all__ = ["Column", "Doubt", "Figure", "Table", "View"]
