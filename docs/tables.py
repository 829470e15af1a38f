"""Write the tables of frameworks.md from the records: ``python docs/tables.py``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from attention.frameworks.facets import lines
from attention.frameworks.libraries.convention import FACETS

PAGE = Path(__file__).with_name("frameworks.md")
TABLES = {  # each between two comments of the page that name it
    "calls": ("when", "true_means", "beside", "causal", "default_scale", "layout"),
    "rows": ("hidden_row", "infinite_row", "lowest_row", "nan_key", "half", "floats"),
    "masks": ("integers", "numbers", "axes", "scale", "scale_zero", "returns"),
    "parts": ("groups", "group_order", "softcap", "window", "sinks", "bias"),
}


def table(name: str) -> str:
    """Return one table in Markdown: a line for each record."""
    facets = TABLES[name]
    with_version = name == "calls"
    heads = ["", *(FACETS[facet] for facet in facets)]
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for record in lines(facets=facets).values():
        called = f"{record['library']} ({record['version']})" if with_version else record["library"]
        cells = [called, *(record[facet] for facet in facets)]
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(rows)


def written(page: str) -> str:
    """Return the page with its tables as the records are."""
    for name in TABLES:
        begin, end = f"<!-- {name} -->\n\n", f"\n\n<!-- end of {name} -->"
        before, rest = page.split(begin)
        _, after = rest.split(end)
        page = f"{before}{begin}{table(name)}{end}{after}"
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
