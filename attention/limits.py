"""Every bound on what a person may give, and the error that says which was passed.

What concerns the look of a figure or a page alone (when a cell gets no number, say) stands there.
"""

from __future__ import annotations

from typing import Self


class BadInput(ValueError):
    """What a person gave cannot be used; the message is the one sentence they read."""

    def bare(self) -> Self:
        """Return it without the calls it came through, which hold all that was read, megabytes.

        >>> BadInput("that is no number").bare().__traceback__ is None
        True
        """
        self.__traceback__ = self.__context__ = self.__cause__ = None
        return self


# ---- numbers ------------------------------------------------------------------------------------
# Products of four numbers and their sums stay far below what float64 holds.

LIMIT = 1e12  # numbers beyond ±LIMIT are refused
LOWEST = -1e30  # but at or below it, as float32's lowest in a printed mask, they stand for −∞
MAX_SCALE = 1e6  # what scores are multiplied by
MAX_SEED = 2**32 - 1
ROUNDED = 0.02  # how far the sum of a row of given weights may be from 1

# ---- the board ----------------------------------------------------------------------------------
# What a browser draws at once, and a saved state below MAX_STATE holds.

MAX_TOKENS = 512  # of one sequence; Long context shows more
MAX_TOKEN_LENGTH = 40  # characters
MAX_DIMENSION = 512  # d_model, d_k and d_v
MAX_SIDE = 512  # columns of a matrix
MAX_JOINED = 4096  # of one that holds all heads beside each other
MAX_BATCH = 64  # sequences
MAX_CELLS = 2**22  # scores of all items and heads together: 16 heads of 512 tokens
MAX_NUMBERS = 6 * 512 * 512  # of all matrices together: both sequences and all four weights
MAX_EDITED = 16_384  # operations of one message of the board; a larger paste takes several

# ---- files and texts ----------------------------------------------------------------------------
# Counted in the bytes or the text before anything is made of them, so that a small file cannot
# become a large one.

MAX_FILE = 8 * 2**20  # bytes of a file, characters of a text
MAX_PASTED = 2_000_000  # characters that a box of the page takes
MAX_PROSE = 20_000  # bytes of a sentence, characters of its box
MAX_TYPED_TEXT = 8 * 2**20  # characters of a matrix; 512 × 512 numbers of full length fit
MAX_ELEMENTS = 400_000  # numbers of one array
MAX_LINES = 150_000  # of a table; each costs as much as ten numbers
MAX_RANK = 4  # its axes
MAX_ARRAYS = 4096  # in one file
MAX_BLOCKS = 64  # matrices in one text, one for each head
MAX_HEADER = 2**20  # bytes of JSON in a .safetensors file
MAX_HEADER_IN_PYTHON = 64 * MAX_HEADER  # the same of a capture that no page opens
MAX_INFLATED = 32 * 2**20  # bytes of a .npz that are read to see whether they are sound
MAX_BRACKETS = 100_000  # of a JSON text, as an empty list takes thirty times its two characters
MAX_PRINTED_BRACKETS = 2**15  # of a printed text: what stands before each is looked at
MAX_NAMES = 100_000  # of a JSON text
MAX_COMMAS = 1_200_000  # of commas, tabs or semicolons: word vectors of 8 MB have fewer

# ---- links and saved states ---------------------------------------------------------------------

MAX_LINK = 2_000  # characters; proxies and chat programs cut longer addresses
MAX_QR = 300  # characters of an address that a code is drawn of
MAX_STATE = 18 * 2**20  # bytes of a saved state, written or read; one with MAX_NUMBERS has fewer
MAX_FIELD = 300_000  # characters of a parameter; a mask of 512 × 512 needs fewer
MAX_MATRIX_TEXT = 1_000_000  # characters of the typed numbers of a matrix
MAX_TYPED = 4096  # numbers; a larger matrix travels as float64, not as text
MAX_STATE_COLONS = 200_000  # in a saved state, and as many brackets: 1,024 tokens have fewer
MAX_STATE_COMMAS = 700_000
MAX_WHOLE_DIGITS = 12  # of a whole number in a link, or in an edit of the board

# ---- work ---------------------------------------------------------------------------------------

MAX_CHECKED = 8 * 128 * 128  # heads × queries × keys that Check yours searches within two seconds
MAX_RELATED = 24  # printed arrays that are compared with each other
MAX_TOGETHER = 64  # arrays of a text that are listed with what each of them is
MAX_REORDERED = 2**26  # cells of the masks of all items and heads that are put in another order
MAX_DRAWN_AGAIN = 2**18  # scores that are computed again to see what rounded inputs may change
MAX_RELATED_NUMBERS = 2**18  # of one of them
MAX_PRODUCTS = 2**29  # multiplications of products of them, after cheaper tests
MAX_WHOLE_PRODUCT = 2**24  # of one; of larger ones, many rows are computed
MAX_SOFTMAX_TESTS = 60
MAX_READINGS = 5000  # ways to read their relations as attention
MAX_COMPARED = 128 * 128  # scores that Conventions hands to every framework
MAX_DRAWN = 2_000_000  # cells of all panes of one figure; a browser draws no more in time
MAX_TABLE = 2**18  # numbers of a stage that a page lists; a file has more
MAX_STYLED = 2**14  # of which each is written as on the board
MAX_LISTED = 1_000_000  # numbers of all stages in CSV or JSON, or of all heads in code: 35 MB
MAX_TYPESET = 250_000  # in LaTeX or Markdown, or of all heads in the report, which holds the code
MAX_PRINTED = 2**17  # of a paper figure, which draws each cell as lines
MAX_DPI = 600  # dots per inch of a PNG
MAX_DOTS = 64_000_000  # of all of it, four bytes each while it is drawn
MAX_PIXELS = 16_000_000  # of a picture that weights are drawn over; a browser decodes it
MAX_IMAGE = 8 * 2**20  # bytes of its file
MAX_CAPTION = 2000  # characters, and of each other word of a figure
MAX_SAMPLES = 10_000  # scores that Why √d_k draws
MAX_SAMPLE_D_K = 1024
MAX_CARDS = 16  # of cells of a row that a board is sent at a time
MAX_ASKED = 2  # requests of one page that are answered at a time: for cards, and for a preview
MAX_ANSWERED = 4  # of all pages: files are served beside them, and each request may need 60 MB
MAX_DIGITS = 10  # behind the point
MAX_FIGURE_DIGITS = 12  # of a figure made from Python
MAX_CAPTURED_CELLS = 2**23  # weights of all heads of a capture: 32 heads of 512 tokens
MAX_CAPTURED_HEADS = 4096  # of all its layers, calls and items
MAX_CAPTURED_NUMBERS = 3 * 2**20  # of one of them: queries, keys, values and output
MAX_CAPTURE = 20 * 2**20  # bytes: GPT-2 small with 128 tokens, every head, has 18 MB
MAX_MASKS = 140 * 2**20  # bytes of the masks of a capture, joined in each call
MAX_MEASURED = 2**19  # numbers of its heads that are computed at a time, 100 bytes each
MAX_DIAGNOSED = 2**16  # scores of a head of it that is searched for mistakes, and four times
# as many other numbers
MAX_MAPS = 72  # small maps on the page Real model at a time

# ---- exercises ----------------------------------------------------------------------------------

MAX_EXERCISE = 9999  # the number of one
MAX_BLANKS = 100  # and answers, and counts of tries
MAX_ANSWER = 40  # characters
MAX_SHEETS = 40  # of a class

# ---- long contexts ------------------------------------------------------------------------------

MAX_LONG_TOKENS = 2**17  # queries, and keys
MAX_LONG_HEADS = 64
MAX_LONG_WIDTH = 1024  # d_k and d_v
MAX_LONG_FILE = 110 * 2**20  # bytes: Q, K and V of that many tokens, 64 columns, float32
MAX_LONG_WEIGHTS = MAX_LONG_FILE // 2  # finished ones of one file, in float16
MAX_LONG_NUMBERS = 2**25  # of one array
MAX_LONG_SIZE = 2**28  # bytes of queries, keys and values together
MAX_LONG_HELD = 2**30  # bytes of all people's queries and keys, in one process
