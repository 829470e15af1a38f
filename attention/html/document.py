"""One HTML file that stands alone: no script, nothing from elsewhere."""

from __future__ import annotations

from html import escape

from attention import program


def document(title: str, style: str, *parts: str) -> bytes:
    """Return the file with these parts as its body."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"
    lines = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width">',
        f'<meta name="generator" content="{program.NAME} {program.VERSION}">',
        f"<title>{escape(title)}</title><style>{style}</style></head><body>",
        *filter(None, parts),
        "</body></html>\n",
    ]
    return "\n".join(lines).encode()
