"""What a real model did: its attention recorded in the person's own process, and checked."""

from attention.models import summary
from attention.models.taken import Taken

# labels.py and verify.py take captures, so it is here that they get a repr that needs both
Taken.__repr__ = summary.summary  # type: ignore[assignment]
