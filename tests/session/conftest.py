"""A version that has an example no more."""

import pytest

from attention.session.examples import EXAMPLES


@pytest.fixture
def forget_example():
    """Takes an example away by its name; afterwards all are there again, in their order."""
    before = dict(EXAMPLES)
    yield EXAMPLES.pop
    EXAMPLES.clear()
    EXAMPLES.update(before)
