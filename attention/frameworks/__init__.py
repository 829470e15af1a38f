"""How others answer, and why the numbers of other code differ."""

from attention.frameworks.result import Diagnosis


def _page(found: Diagnosis) -> str:
    """The page of a diagnosis, from the floor that explains: the one late call upwards."""
    from attention.explain.differing import page

    return page(found)


Diagnosis._repr_html_ = _page  # type: ignore[attr-defined]
