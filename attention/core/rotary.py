"""Rotary positions: pairs of numbers of Q and K turn by an angle that grows with the position.

The angle of pair k at position p is p · frequency k. A score then depends on how far a query and a
key are apart, not on their positions: Su et al. 2021, "RoFormer". For contexts longer than a model
was trained with, the frequencies are made lower: linear (Chen et al. 2023, "Extending Context
Window of Large Language Models via Positional Interpolation"), NTK-aware and YaRN (both in Peng et
al. 2023, "YaRN: Efficient Context Window Extension of Large Language Models").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays.checks import check_count, check_positive, check_switch, check_vector
from attention.arrays.conversion import locked, shown

PAIRS = ("halves", "interleaved")


@dataclass(frozen=True)
class Rotary:
    """A rotation of Q and K by position: (a, b) becomes (a cos θ − b sin θ, b cos θ + a sin θ).

    Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding", section 3.2.2.

    Parameters
    ----------
    base : float
        Pair k of ``width`` columns turns by base^(−2k / width) radians for each position.
    pairs : "halves" or "interleaved"
        Column k is paired with column k + width / 2, as in LLaMA of transformers and in GPT-NeoX,
        or columns 2k and 2k + 1 are a pair, as in GPT-J and Meta's LLaMA.
    width : int
        How many of the first columns are rotated; the others stay. Default: all.
    offset : int
        The position of the first query. Keys are at 0, 1, …: with a cache of ``past`` keys it is
        ``past``.
    frequencies : array_like, (width / 2,)
        The angle for each position, in radians, instead of those of ``base``: see
        :func:`yarn_frequencies`.
    factor : float
        Multiplies cos and sin, as YaRN does.

    Raises
    ------
    ValueError
        If ``base`` or ``factor`` is not positive, ``pairs`` not one of the two words, ``width`` not
        an even number from 2, ``offset`` not a whole number from 0, or ``frequencies`` not one row
        of width / 2 finite numbers; when it is used, if a head is narrower or its width is odd.
    TypeError
        If ``frequencies`` does not hold numbers.

    >>> Rotary().rotate(np.array([[1.0, 0.0], [1.0, 0.0]])).round(4)
    array([[1.    , 0.    ],
           [0.5403, 0.8415]])
    """

    base: float = 10000.0
    pairs: str = "halves"
    width: int | None = None
    offset: int = 0
    frequencies: ArrayLike | None = None  # kept as a tuple of floats
    factor: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", check_positive("base", self.base))
        if not isinstance(self.pairs, str) or self.pairs not in PAIRS:
            raise ValueError(f"pairs is {shown(self.pairs)}; expected 'halves' or 'interleaved'.")
        if self.width is not None:
            object.__setattr__(self, "width", _check_width("width", self.width))
        object.__setattr__(self, "offset", check_count("offset", self.offset, 0))
        check_vector(self, "frequencies")
        given: Any = self.frequencies
        if given is not None and self.width is not None and 2 * len(given) != self.width:
            raise ValueError(
                f"frequencies holds {len(given)} numbers; expected {self.width // 2}, one for"
                f" each pair of {self.width} columns."
            )
        object.__setattr__(self, "factor", check_positive("factor", self.factor))

    def rotate(self, M: np.ndarray, first: int = 0) -> np.ndarray:
        """Rotate the rows of Q or K, (…, n, d_k); the first row is at position ``first``."""
        a, b = self.pairs_of(M.shape[-1])
        cos, sin = (part.astype(M.dtype) for part in self.cos_sin(M.shape, first))
        rotated = M.copy()
        with np.errstate(all="ignore"):
            rotated[..., a] = M[..., a] * cos - M[..., b] * sin
            rotated[..., b] = M[..., b] * cos + M[..., a] * sin
        return locked(rotated)

    def error(self, M: np.ndarray, e: ArrayLike, first: int = 0) -> np.ndarray:
        """Return how far the rotated numbers may be off if those of M are at most ``e`` off.

        The error of cos and sin is that of their angle, which is rounded too.
        """
        eps, size = np.finfo(M.dtype).eps, np.abs(M)
        (a, b), mixed = self.pairs_of(M.shape[-1]), e + 4 * eps * size
        old = mixed.copy()
        angles = np.abs(self.angles(M.shape, first))
        cos, sin = (np.abs(part) for part in self.cos_sin(M.shape, first))
        off = self.factor * eps * angles * (size[..., a] + size[..., b])
        mixed[..., a] = old[..., a] * cos + old[..., b] * sin + off
        mixed[..., b] = old[..., b] * cos + old[..., a] * sin + off
        return np.asarray(mixed)

    def pairs_of(self, d_k: int) -> tuple[slice, slice]:
        """Return the columns of the first and of the second number of each pair."""
        width = self._width(d_k)
        if self.pairs == "halves":
            return slice(0, width // 2), slice(width // 2, width)
        return slice(0, width, 2), slice(1, width, 2)

    def turns(self, d_k: int) -> np.ndarray:
        """Return the angle of each pair for one position, (width / 2,), in radians."""
        given: Any = self.frequencies
        return _plain(self._width(d_k), self.base) if given is None else np.array(given)

    def angles(self, shape: tuple[int, ...], first: int = 0) -> np.ndarray:
        """Return θ of each pair in rows from position ``first`` on, (n, width / 2), in radians."""
        return np.asarray(np.arange(first, first + shape[-2])[:, None] * self.turns(shape[-1]))

    def cos_sin(self, shape: tuple[int, ...], first: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Return factor · cos θ and factor · sin θ, (n, width / 2) each, from ``first`` on."""
        angles = self.angles(shape, first)
        return self.factor * np.cos(angles), self.factor * np.sin(angles)

    def _width(self, d_k: int) -> int:
        """Return how many columns of a head of d_k columns are rotated."""
        given: Any = self.frequencies
        width = d_k if self.width is None else self.width
        width = width if given is None else 2 * len(given)
        if width > d_k:
            raise ValueError(f"rotary turns {width} columns; a head of Q and K has {d_k}.")
        if width % 2:
            raise ValueError(
                f"rotary turns pairs of columns; a head of Q and K has {d_k}, an odd number. Give a"
                " smaller, even width."
            )
        return width


def linear_frequencies(width: int, scaling: float, base: float = 10000.0) -> np.ndarray:
    """Return frequencies divided by ``scaling``, as if positions were that much closer together.

    Chen et al. 2023, "Extending Context Window of Large Language Models via Positional
    Interpolation".

    Parameters
    ----------
    width : int
        How many columns are rotated.
    scaling : float
        How many times longer the context is than the one the model was trained with.
    base : float
        As in :class:`Rotary`.

    Returns
    -------
    ndarray, (width / 2,)
        For ``Rotary(frequencies=…)``, in radians for each position.

    Raises
    ------
    ValueError
        If ``width`` is not an even number from 2, or ``scaling`` or ``base`` is not positive.

    >>> linear_frequencies(4, 2.0)
    array([0.5  , 0.005])
    """
    scaling = check_positive("scaling", scaling)
    return _plain(_check_width("width", width), check_positive("base", base)) / scaling


def ntk_frequencies(width: int, scaling: float, base: float = 10000.0) -> np.ndarray:
    """Return the frequencies of the base · scaling^(width / (width − 2)), called NTK-aware.

    The fastest pair stays as it is, the slowest is divided by ``scaling``. Peng et al. 2023, "YaRN:
    Efficient Context Window Extension of Large Language Models", section 3.1.

    Parameters
    ----------
    width, scaling, base : as in :func:`linear_frequencies`

    Returns
    -------
    ndarray, (width / 2,)
        For ``Rotary(frequencies=…)``, in radians for each position.

    Raises
    ------
    ValueError
        If ``width`` is not an even number from 2, or ``scaling`` or ``base`` is not positive.

    >>> ntk_frequencies(4, 2.0)
    array([1.   , 0.005])
    """
    width, scaling = _check_width("width", width), check_positive("scaling", scaling)
    slower = np.arange(0, width, 2) / max(width - 2, 1)
    return np.asarray(_plain(width, check_positive("base", base)) * scaling**-slower)


def yarn_frequencies(
    width: int,
    scaling: float,
    trained: int,
    base: float = 10000.0,
    *,
    fast: float = 32.0,
    slow: float = 1.0,
    whole_pairs: bool = True,
) -> np.ndarray:
    """Return YaRN's frequencies: fast pairs unchanged, slow ones divided by ``scaling``.

    Peng et al. 2023, sections 3.2 and 3.4. Between the two is a ramp, linear in the number of the
    pair, as in transformers (``rope_type="yarn"``). Also give its factor, :func:`yarn_factor`:
    ``Rotary(frequencies=…, factor=yarn_factor(scaling))``.

    Parameters
    ----------
    width, scaling, base : as in :func:`linear_frequencies`
    trained : int
        How many positions the model was trained with.
    fast, slow : float
        Turns within ``trained`` positions: a pair with at least ``fast`` is unchanged, one with at
        most ``slow`` is divided.
    whole_pairs : bool
        Whether the ramp between the two begins and ends at whole pairs; not so in gpt-oss.

    Returns
    -------
    ndarray, (width / 2,)
        In radians for each position.

    Raises
    ------
    ValueError
        If ``width`` is not an even number from 2, ``trained`` not a whole number from 1, another
        number not positive, or ``base`` is 1.
    TypeError
        If ``whole_pairs`` is not a bool.

    >>> yarn_frequencies(8, 4.0, 1024).round(5).tolist()
    [1.0, 0.075, 0.005, 0.00025]
    """
    plain, scaling = _longer(width, scaling, trained, base, fast, slow)
    if base == 1:
        raise ValueError("base is 1; expected another number, as all pairs would be alike.")

    def pair_turning(times: float) -> float:
        """Return which pair, as a fraction, turns ``times`` times within ``trained``."""
        turns = math.log(trained) - math.log(times) - math.log(2 * math.pi)
        return width * turns / (2 * math.log(base))

    begins, ends = pair_turning(fast), pair_turning(slow)
    if check_switch("whole_pairs", whole_pairs):
        begins, ends = math.floor(begins), math.ceil(ends)
    begins, ends = max(begins, 0), min(ends, width - 1)
    divided = np.clip((np.arange(width // 2) - begins) / ((ends - begins) or 0.001), 0, 1)
    return plain * (1 - divided) + plain / scaling * divided


def llama3_frequencies(
    width: int,
    scaling: float,
    trained: int,
    base: float = 10000.0,
    *,
    fast: float = 4.0,
    slow: float = 1.0,
) -> np.ndarray:
    """Return the frequencies of Llama 3.1: fast pairs unchanged, slow ones divided by ``scaling``.

    A pair that turns between ``slow`` and ``fast`` times within the ``trained`` positions is
    between the two, in proportion to its turns: ``rope_type="llama3"`` of transformers, where
    ``fast`` is called ``high_freq_factor`` and ``slow`` ``low_freq_factor``.

    Parameters
    ----------
    width, scaling, trained, base, fast, slow : as in :func:`yarn_frequencies`

    Returns
    -------
    ndarray, (width / 2,)
        In radians for each position.

    Raises
    ------
    ValueError
        If ``width`` is not an even number from 2, ``trained`` not a whole number from 1, another
        number not positive, or ``fast`` is not larger than ``slow``.

    >>> llama3_frequencies(8, 8.0, 64).round(6).tolist()
    [1.0, 0.013042, 0.00125, 0.000125]
    """
    plain, scaling = _longer(width, scaling, trained, base, fast, slow)
    if fast <= slow:
        raise ValueError(f"fast is {fast:g} and slow is {slow:g}; fast has to be the larger.")
    stays = np.clip((trained * plain / (2 * math.pi) - slow) / (fast - slow), 0, 1)
    return np.asarray(plain * stays + plain / scaling * (1 - stays))


def yarn_factor(scaling: float) -> float:
    """Return 0.1 ln(scaling) + 1, by which YaRN multiplies cos and sin; 1 for a scaling up to 1.

    Peng et al. 2023, section 3.4.

    Parameters
    ----------
    scaling : float
        As in :func:`yarn_frequencies`.

    Raises
    ------
    ValueError
        If ``scaling`` is not a positive, finite number.

    >>> round(yarn_factor(4.0), 4)
    1.1386
    """
    return 0.1 * math.log(max(check_positive("scaling", scaling), 1.0)) + 1


def _plain(width: int, base: float) -> np.ndarray:
    """Return base^(−2k / width) for each pair k."""
    return np.asarray(base ** (-np.arange(0, width, 2) / max(width, 1)))


def _longer(
    width: int, scaling: float, trained: int, base: float, fast: float, slow: float
) -> tuple[np.ndarray, float]:
    """Return the plain frequencies and the scaling of a longer context, its numbers checked."""
    width, base = _check_width("width", width), check_positive("base", base)
    scaling = check_positive("scaling", scaling)
    check_count("trained", trained)
    check_positive("fast", fast)
    check_positive("slow", slow)
    return _plain(width, base), scaling


def _check_width(name: str, given: Any) -> int:
    width = check_count(name, given, 2)
    if width % 2:
        raise ValueError(f"{name} is {width}; expected an even number, as columns turn in pairs.")
    return width
