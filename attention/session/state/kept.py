"""A large state as a browser keeps it: its link, with each typed matrix apart under a digest of it.

A move changes few matrices, so only those that the browser does not have yet are sent to it.
"""

from __future__ import annotations

import hashlib

from attention.limits import MAX_STATE, BadInput
from attention.session.state import links
from attention.session.state.matrix import Matrix, WordRows
from attention.session.state.settings import Settings, TooManyTokens

OTHER = (
    "What this browser keeps under this address is damaged, or is another state; open a saved state"
    " under “Your data” on Explore, or bring the numbers again."
)


def pack(settings: Settings) -> tuple[dict[str, str], dict[str, Matrix]]:
    """The link, with ``@digest`` for each typed matrix, and these matrices by digest.

    >>> import numpy as np
    >>> from attention.session.state.examples import EXAMPLES
    >>> typed = EXAMPLES["four-words"].build().with_matrix("W_Q", Matrix(np.eye(4)))
    >>> link, matrices = pack(typed)
    >>> sorted(link), link["W_Q"] == "@" + next(iter(matrices))
    (['W_Q', 'example'], True)
    """
    matrices = {}

    def name(matrix: Matrix, rows: WordRows | None) -> str:
        if matrix.follows(rows):
            return links.write_matrix(matrix, rows)
        digest = hashlib.blake2b(links.identity(matrix), digest_size=12).hexdigest()
        matrices[digest] = matrix
        return "@" + digest

    return links.write(settings, name), matrices


def restored(text: object, mark: str) -> Settings:
    """The settings that a browser has found under a mark.

    Anybody can send anything, so it is read like an upload: its length before its content, and then
    the mark of what was read has to be the same. BadInput says that it is not; TooManyTokens as for
    a link.
    """
    settings: Settings | None
    too_many: TooManyTokens | None = None
    try:
        if not isinstance(text, str) or len(text) > MAX_STATE:  # before it is made into bytes
            raise BadInput(OTHER)
        settings = links.from_file(text.encode())
    except TooManyTokens as found:
        too_many, settings = found, found.settings
    except (BadInput, UnicodeEncodeError):
        raise BadInput(OTHER) from None
    if settings is None or links.address(settings)[0].get("partial") != mark:
        raise BadInput(OTHER)
    if too_many:
        raise too_many
    return settings
