# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Arrays at other resolutions and positions: interpolation, pixels of channels, grids, and their gradients."""
from libc.stdint cimport int64_t

from stator._array cimport Array, as_array, new_array, wrap_array
from stator._backend cimport enter
from stator._convert cimport to_flag, to_float, to_lengths, to_text
from stator._integers cimport to_int
from stator.cpp cimport resampling as cpp
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.std cimport string_view


# `mode` must outlive the options.
cdef int set_interpolation(cpp.InterpolateOptions& o, Array x, str op, object size, object scale_factor, bytes mode,
                           object align_corners) except -1:
    cdef int spatial = x.c.ndim() - 2
    to_lengths(size, spatial, o.size, op, "size")
    if scale_factor is not None:
        factors = scale_factor if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * max(spatial, 1)
        for factor in factors:
            o.scale.push_back(to_float(factor, op, "scale_factor"))
    o.mode = string_view(<const char*>mode, len(mode))
    o.align_corners = to_flag(align_corners, op, "align_corners")
    return 0


def interpolate(x: Array, /, size: int | Sequence[int] | None = None,
                scale_factor: float | Sequence[float] | None = None, mode: str = "nearest", *,
                align_corners: bool = False) -> Array:
    """x (n, channels, spatial...) at another resolution. Asynchronous.

    size, the spatial extents of the result, or scale_factor, factors of x's; each a number, or one for each axis. mode:
    "nearest", "nearest-exact", "area", of which each result is the mean of a window, or "linear", "bilinear" and
    "trilinear" of one, two and three spatial axes, or "bicubic" of two. align_corners, of the latter: the first and the
    last elements of an axis stay where they are. Without it positions are divided by scale_factor, also where it is so
    near 1 that the extent stays the same; there PyTorch's linear modes, and "nearest" of two axes, return x.

    >>> stator.nn.interpolate(be.asarray([[[1.0, 2.0]]]), 4).tolist()
    [[[1.0, 1.0, 2.0, 2.0]]]
    """
    cdef Array source = as_array(x, "nn.interpolate"), out = new_array(source.backend)
    cdef cpp.InterpolateOptions options
    cdef bytes text = to_text(mode, "nn.interpolate", "mode")
    cdef CppStream stream
    set_interpolation(options, source, "nn.interpolate", size, scale_factor, text, align_corners)
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.interpolate(source.c, options, stream)
    return out


def interpolate_backward(grad: Array, x: Array, /, size: int | Sequence[int] | None = None,
                         scale_factor: float | Sequence[float] | None = None, mode: str = "nearest", *,
                         align_corners: bool = False) -> Array:
    """The gradient of interpolate's x. Asynchronous; equal bits from run to run.

    grad has the shape of the result; of x only the shape and the dtype count.

    >>> x = be.asarray([[[1.0, 2.0]]])
    >>> stator.nn.interpolate_backward(be.ones((1, 1, 4)), x, 4).tolist()
    [[[2.0, 2.0]]]
    """
    cdef Array g = as_array(grad, "nn.interpolate_backward"), source = as_array(x, "nn.interpolate_backward")
    cdef Array out = new_array(g.backend)
    cdef cpp.InterpolateOptions options
    cdef bytes text = to_text(mode, "nn.interpolate_backward", "mode")
    cdef CppStream stream
    set_interpolation(options, source, "nn.interpolate_backward", size, scale_factor, text, align_corners)
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.interpolate_backward(g.c, source.c, options, stream)
    return out


cdef Array shuffled(bint back, str op, object x, object factor, str name):
    cdef Array source = as_array(x, op), out = new_array(source.backend)
    cdef int64_t times = to_int(factor, op, name)
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.pixel_unshuffle(source.c, times, stream) if back else cpp.pixel_shuffle(source.c, times, stream)
    return out


def pixel_shuffle(x: Array, /, upscale_factor: int) -> Array:
    """x (..., c r^2, h, w) as (..., c, h r, w r), r being upscale_factor. Any dtype. Asynchronous.

    Its gradient is pixel_unshuffle.

    >>> stator.nn.pixel_shuffle(be.ones((1, 4, 2, 3)), 2).shape
    (1, 1, 4, 6)
    """
    return shuffled(False, "nn.pixel_shuffle", x, upscale_factor, "upscale_factor")


def pixel_unshuffle(x: Array, /, downscale_factor: int) -> Array:
    """x (..., c, h r, w r) as (..., c r^2, h, w), r being downscale_factor. Any dtype. Asynchronous.

    Its gradient is pixel_shuffle.

    >>> stator.nn.pixel_unshuffle(be.ones((1, 1, 4, 6)), 2).shape
    (1, 4, 2, 3)
    """
    return shuffled(True, "nn.pixel_unshuffle", x, downscale_factor, "downscale_factor")


# `mode` and `padding` must outlive the options.
cdef int set_grid(cpp.GridSampleOptions& o, str op, bytes mode, bytes padding, object align_corners) except -1:
    o.mode = string_view(<const char*>mode, len(mode))
    o.padding = string_view(<const char*>padding, len(padding))
    o.align_corners = to_flag(align_corners, op, "align_corners")
    return 0


def grid_sample(x: Array, grid: Array, /, mode: str = "bilinear", padding_mode: str = "zeros", *,
                align_corners: bool = False) -> Array:
    """x (n, channels, h, w) at the positions of grid (n, ho, wo, 2). Asynchronous.

    Or x (n, channels, d, h, w) with grid (n, do, ho, wo, 3). The last axis of grid has numbers from -1 to 1, the one
    along x's last axis first. mode: "bilinear", "nearest" or, of two spatial axes, "bicubic". padding_mode: elements
    beyond the ends are "zeros", those of the "border", or a "reflection". align_corners: -1 and 1 are the centres of
    the outer elements, else their edges. A NaN in grid, and in a "reflection" also an infinity, is at the first element
    of its axis, where the gradient of grid is 0; with "zeros" it is at none.

    >>> x = be.asarray([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> stator.nn.grid_sample(x, be.zeros((1, 1, 1, 2))).tolist()
    [[[[2.5]]]]
    """
    cdef Array source = as_array(x, "nn.grid_sample"), at = as_array(grid, "nn.grid_sample")
    cdef Array out = new_array(source.backend)
    cdef cpp.GridSampleOptions options
    cdef bytes text = to_text(mode, "nn.grid_sample", "mode")
    cdef bytes padding = to_text(padding_mode, "nn.grid_sample", "padding_mode")
    cdef CppStream stream
    set_grid(options, "nn.grid_sample", text, padding, align_corners)
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.grid_sample(source.c, at.c, options, stream)
    return out


def grid_sample_backward(grad: Array, x: Array, grid: Array, /, mode: str = "bilinear", padding_mode: str = "zeros", *,
                         align_corners: bool = False) -> tuple[Array, Array]:
    """The gradients of grid_sample's x and grid. Asynchronous; equal bits from run to run.

    grad has the shape of the result. Where the padding ends a coordinate, the gradient of the grid is 0.

    >>> x = be.asarray([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> gx, ggrid = stator.nn.grid_sample_backward(be.ones((1, 1, 1, 1)), x, be.zeros((1, 1, 1, 2)))
    >>> gx.tolist(), ggrid.tolist()
    ([[[[0.25, 0.25], [0.25, 0.25]]]], [[[[1.0, 2.0]]]])
    """
    cdef Array g = as_array(grad, "nn.grid_sample_backward"), source = as_array(x, "nn.grid_sample_backward")
    cdef Array at = as_array(grid, "nn.grid_sample_backward")
    cdef cpp.GridSampleOptions options
    cdef bytes text = to_text(mode, "nn.grid_sample_backward", "mode")
    cdef bytes padding = to_text(padding_mode, "nn.grid_sample_backward", "padding_mode")
    cdef cpp.GridSampleGradients found
    cdef CppStream stream
    set_grid(options, "nn.grid_sample_backward", text, padding, align_corners)
    enter(g.backend, stream)
    with nogil:
        found = cpp.grid_sample_backward(g.c, source.c, at.c, options, stream)
    return wrap_array(g.backend, found.x), wrap_array(g.backend, found.grid)
