"""An HTML table and its lines, everything typed escaped."""

from __future__ import annotations

from attention.vocabulary.notation import in_html


def table(kind: str, heads: list[str], lines: list[str]) -> str:
    head = "".join(f'<th scope="col">{in_html(text)}</th>' for text in heads)
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f'<div class="scroll"><table class="{kind}">{body}</table></div>'


def line(cells: list[str], kind: str = "") -> str:
    first, *rest = (in_html(text) for text in cells)
    others = "".join(f"<td>{text}</td>" for text in rest)
    return f'<tr class="{kind}"><th scope="row">{first}</th>{others}</tr>'
