"""Tables of results: a pandas frame where pandas is installed, else a small class of our own."""
from __future__ import annotations

from html import escape
from typing import Any, Iterator, Sequence


class Table:
    """Rows of named columns: table["name"] is a list, table[3] a row, len() the number of rows."""

    def __init__(self, rows: Sequence[dict]):
        self.columns = list(dict.fromkeys(key for row in rows for key in row))
        self.rows = [{key: row.get(key) for key in self.columns} for row in rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __getitem__(self, key: Any) -> Any:
        return [row[key] for row in self.rows] if isinstance(key, str) else self.rows[key]

    def to_dict(self, orient: str = "records") -> list:
        return [dict(row) for row in self.rows]

    def _cells(self) -> list:
        def text(value: Any) -> str:
            return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)
        return [[text(row[key]) for key in self.columns] for row in self.rows]

    def __repr__(self) -> str:
        cells = [self.columns] + self._cells()
        width = [max(len(row[k]) for row in cells) for k in range(len(self.columns))]
        return "\n".join("  ".join(c.rjust(w) for c, w in zip(row, width)) for row in cells)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(key)}</th>" for key in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>"
                       for row in self._cells())
        return f"<table><tr>{head}</tr>{body}</table>"


def make(rows: Sequence[dict]) -> Any:
    try:
        import pandas
    except ImportError:
        return Table(rows)
    return pandas.DataFrame(rows)


def records(table: Any) -> list:
    """The rows of a table as dicts, whatever it is."""
    if isinstance(table, (list, tuple)):
        return list(table)
    return table.to_dict("records")
