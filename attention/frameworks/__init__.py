"""How others answer, and why the numbers of other code differ."""

from attention.frameworks import differing
from attention.frameworks.result import Diagnosis

# differing.py takes diagnoses, so it is here that they get the page it makes of them
Diagnosis._repr_html_ = differing.page  # type: ignore[attr-defined]
