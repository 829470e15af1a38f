"""How others answer, and why the numbers of other code differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attention.frameworks.facets import table

__all__ = ["table"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import the table of all libraries on first access."""
        if name != "table":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from attention.frameworks.facets import table

        return table
