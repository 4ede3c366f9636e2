"""Executes the notebooks and stores their outputs: `python tests/notebooks/refresh.py`.

What a host adds by itself is left out: times, widget state, the version of Python.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def refresh(path: Path) -> None:
    """Execute one notebook in its folder and write it again."""
    book = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    folder = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(
        book, timeout=60, record_timing=False, store_widget_state=False, resources=folder
    )
    client.execute()
    book.metadata = nbformat.from_dict(METADATA)  # type: ignore[no-untyped-call]
    for cell in book.cells:
        cell.metadata.pop("execution", None)
    nbformat.write(book, path)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    for each in sorted(NOTEBOOKS.glob("*.ipynb")):
        refresh(each)
        print(each.name)
