"""Fourier transforms, whose errors are in the last place of the largest element."""

from __future__ import annotations

from typing import Any

from stator._catalogue.domains import Domain
from stator._catalogue.entry import AXIS, FILLED, Call, Function, Given, entries, largest


def fourier(*several: dict[str, Any]) -> Call:
    def of(f: Function, given: Given) -> Any:
        x = given.array() if given.floating else given.array(range(0, 9))
        # Libraries scale in a further pass, which the first call has none of: "forward" leaves inverses unscaled.
        norm = {"norm": "forward"} if given.cell.op.startswith("i") else {}
        return largest(f(x, **several[0], **norm), *[f(x, **options) for options in several])

    return of


def fftconvolve(f: Function, given: Given) -> Any:
    domain: Domain = (-4.0, 4.0) if given.floating else range(0, 5)
    x = given.array(domain)
    return largest(f(x, x, axes=1), f(x, given.array(domain, (3, 5)), axes=(0, 1)))


ENTRIES = {
    **entries(
        FILLED,
        {
            "fft ifft rfft irfft hfft ihfft": fourier({"axis": 1}),
            "fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn": fourier({"axes": (1,)}, {"axes": (0, 1)}),
            "fftconvolve": fftconvolve,
            "stft": lambda f, g: largest(f(g.array(shape=(g.rows % 99, 200)), 16)),
            "istft": lambda f, g: largest(f(g.array(shape=(9, 20)), 16)),
        },
    ),
    **entries(AXIS, {"fftshift ifftshift": lambda f, g: f(g.array())}, wide=False),
    **entries(
        ("contiguous", "large"),
        {"fftfreq rfftfreq": lambda f, g: f(g.rows * 3, dtype=g.dtype, device=g.be)},
        wide=False,
    ),
}
