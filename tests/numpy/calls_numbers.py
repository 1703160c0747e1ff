"""Calls of the names that compute: elementwise functions, reductions, statistics, differences, dtypes and texts."""

UNARY = """
abs absolute acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh cbrt ceil conj conjugate cos
cosh deg2rad degrees exp exp2 expm1 fabs floor isfinite isinf isnan log log10 log1p log2 logical_not negative positive
rad2deg radians reciprocal rint sign signbit sin sinh sqrt square tan tanh trunc frexp modf spacing
bitwise_count bitwise_invert bitwise_not invert
"""
BINARY = """
add arctan2 atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide divmod equal
float_power floor_divide fmax fmin fmod gcd greater greater_equal heaviside hypot lcm ldexp left_shift less less_equal
logaddexp logaddexp2 logical_and logical_or logical_xor maximum minimum mod multiply nextafter not_equal pow power
remainder right_shift subtract true_divide
"""
UFUNCS = """
np.add(f, 1); np.add([1, 2], 3); np.add(s, 1); np.add(s, 2.5); np.add(1, 2); np.where(b, np.add(f, g, where=b), 0)
np.add(f, w); np.multiply(h, f); np.add(f, g, dtype=np.float32); np.sqrt(s); np.sin(u); np.divide(s, s)
np.power(v, 2.0); changed(np.zeros((2, 3)), lambda o: np.add(f, g, o))
changed(np.zeros((2, 3)), lambda o: np.add(f, 1, out=o, where=b))
changed(np.zeros((2, 3)), lambda o: np.sin(w, out=o)); np.add.reduce(f); np.add.reduce(f, None)
np.add.reduce(i, 1, keepdims=True); np.multiply.reduce(f, 1); np.subtract.reduce(v); np.maximum.reduce(f, axis=(0, 1))
np.logical_xor.reduce(b, 1); np.bitwise_or.reduce(i, 1); np.add.reduce(f, 0, initial=5); np.gcd.reduce([12, 18, 30])
np.hypot.reduce(v); np.logaddexp.reduce(v); np.minimum.reduce(v, initial=0); np.add.reduce(f, where=b)
np.logical_and.reduce(b); np.add.accumulate(v); np.multiply.accumulate(f, 1); np.maximum.accumulate(v)
np.subtract.accumulate(v); np.bitwise_xor.accumulate(j); np.add.reduceat(v, [0, 3, 1])
np.maximum.reduceat(f, [0, 2], 1); np.add.outer(w, v); np.multiply.outer(j, f); np.greater.outer(w, w)
changed(v, np.add.at, [0, 0, 2], 1); changed(f, np.add.at, (slice(None), [0, 0]), 1.5)
changed(v, np.subtract.at, [1, 1], [1, 2]); changed(v, np.maximum.at, [0, 1], 2)
changed(v, np.multiply.at, [1, 1], 2); np.ldexp(f, [1, -2, 3]); np.ldexp(1.5, 1024); np.ldexp(v, -1070)
np.ldexp(i, 100); np.ldexp(s, [-1, 2, 3]); np.ldexp(b, 2)
np.frexp([0.0, 5e-324, 1e300]); np.spacing([1.0, -3e-310]); np.float_power(i, 2); np.heaviside([-1.0, 0, 2], 0.5)
np.greater(c, c.T.T); np.maximum(c, 1); np.bitwise_count([-1, 255, 1023]); np.logaddexp2(f, g); np.modf([1.5, -2.25])
np.divmod(i, 3); np.divmod(7.5, v); np.gcd([12, 0, 18], [18, 5, -24]); np.lcm([4, 6, 0], [6, 21, 3]); np.sin([0, 1])
np.add.nin; np.add.nout; np.add.identity; np.isnan(i); np.isfinite(s); np.logical_and(f, g); np.invert(b); np.abs(c)
"""
MATH = """
np.clip(f, 0, 2); np.clip(f, None, 1); np.clip(i, 1, 3); np.clip(f, min=0, max=w); np.clip(u, 1, None)
np.clip([1, 9], 2, 4); np.clip(c, 0, 2j); np.clip(b, True, None); np.clip(s, -400, [1, 2, 3]); np.clip(f, i, h)
np.clip(i, 0, 1, dtype="f4"); changed(f, lambda o: np.clip(s, 0, 2, out=o)); np.angle(b); np.angle(s)
np.round(f, 1); np.round([1.25, 2.675], 2); np.round(i, -1); np.round(c); np.round(h)
np.around([0.5, 1.5]); np.fix([-1.5, 1.5]); np.nan_to_num(n); np.nan_to_num([np.inf, -np.inf], posinf=5, neginf=-5)
np.nan_to_num(c); np.nan_to_num(i); np.nan_to_num(n, nan=7); np.real(c); np.real(f); np.imag(c); np.imag(f)
np.imag(i); np.angle(c); np.angle(c, True); np.angle(f); np.real_if_close(c); np.real_if_close([1 + 1e-16j])
np.isreal(c); np.iscomplex(c); np.iscomplex(f); np.iscomplexobj(c); np.iscomplexobj([1j]); np.isrealobj(f)
np.isneginf([-np.inf, 1]); np.isposinf([np.inf, np.nan]); np.isposinf(i); np.sinc(f); np.sinc(i); np.sinc(c); np.i0(f)
np.i0([0, 1]); np.unwrap([0, 3.5, 7, -1]); np.unwrap([[0, 5.0], [4.0, 1.0]], axis=0); np.unwrap([1, 4, 0], period=4)
np.isclose(f, g); np.isclose(n, n, equal_nan=True); np.isclose(1, 1 + 1e-9)
np.isclose([np.inf, 1e10], [np.inf, 1.00001e10]); np.allclose(f, f); np.allclose(f, g)
np.allclose(n, n, equal_nan=True); np.array_equal(f, f); np.array_equal(f, w); np.array_equal(n, n, True)
np.array_equal([1, 2], [1, 2]); np.array_equiv(w, [w, w]); np.array_equiv(f, v); np.may_share_memory(f, f)
np.shares_memory(f, g); np.shares_memory(v[:2], v[3:]); np.isfortran(f); np.isfortran(f.T)
"""
REDUCTIONS = """
np.sum(f); np.sum(f, 0); np.sum(f, axis=(0, 1)); np.sum(s); np.sum(u, 1); np.sum(b); np.sum([1, 2])
np.sum(f, 1, np.float32); np.sum(f, 1, keepdims=True); np.sum(f, initial=10); np.sum(f, where=b); np.sum(h)
np.sum(f, axis=()); np.sum(c, -1); changed(np.zeros(3), lambda o: np.sum(f, 0, None, o)); np.prod(f); np.prod(i, 1)
np.prod(f, 0, initial=2); np.prod(f, where=b); np.max(f); np.max(f, 0); np.max(n, 1); np.max(f, initial=9)
np.max(f, 1, where=b, initial=-5); np.max([], initial=3); np.max(b); np.min(i, 1, keepdims=True); np.min(f)
np.amax(f, 1); np.amin(f); np.ptp(f); np.ptp(i, 1); np.ptp(f, 0, keepdims=True); np.all(b); np.all(b, 0)
np.all([1, 0]); np.all(b, 1, where=f > 0); np.any(b, 1); np.any(n); np.any(f > 3, keepdims=True); np.count_nonzero(i)
np.count_nonzero(i, 1); np.count_nonzero(b, axis=0, keepdims=True); np.argmax(f); np.argmax(f, 1); np.argmax(b, 0)
np.argmin(f, 0, keepdims=True); np.argmin(n); np.argmin(i); np.mean(f); np.mean(i, 0); np.mean(h, 1); np.mean(b)
np.mean(f, 1, where=b); np.mean(f, keepdims=True); np.mean(h, dtype="f8"); np.mean(c, 0); np.var(f)
np.var(f, 0, ddof=1); np.var(i); np.var(c, 1); np.var(f, 1, where=b); np.var(h, dtype=np.float64)
np.var(f, 1, mean=np.mean(f, 1, keepdims=True)); np.std(f, 0); np.std(i, ddof=1); np.std(f, 1, keepdims=True)
np.std(c); np.std(f, correction=1); np.cumsum(f); np.cumsum(f, 0); np.cumsum(s); np.cumsum(b, 1)
np.cumsum(f, 1, "f4"); np.cumprod(f); np.cumprod(i, 1); np.cumulative_sum(v)
np.cumulative_sum(f, axis=1, include_initial=True); np.cumulative_prod(v)
np.cumulative_prod(i, axis=0, include_initial=True); np.nansum(n); np.nansum(n, 0); np.nansum(i); np.nanprod(n, 1)
np.nancumsum(n); np.nancumsum(n, 1); np.nancumprod(n, 0); np.nanmax(n); np.nanmax(n, 0)
np.nanmin(n, 1, keepdims=True); np.nanmin(i); np.nanargmax(n); np.nanargmax(n, 0); np.nanargmin(n, 1); np.nanmean(n)
np.nanmean(n, 0); np.nanmean(i); np.nanvar(n); np.nanvar(n, 1, ddof=1); np.nanstd(n, 1); np.nanstd(n); np.nanstd(h)
np.median(f); np.median(f, 0); np.median(i, 1, keepdims=True); np.median(n, 0); np.median(h); np.nanmedian(n)
np.nanmedian(n, 0); np.nanmedian(f, 1, keepdims=True); np.nanmedian(h); np.quantile(f, 0.3)
np.quantile(f, [0.1, 0.5], 1); np.quantile(v, 0.4, method="lower"); np.quantile(v, 0.4, method="inverted_cdf")
np.quantile(v, [0.1, 0.4], method="averaged_inverted_cdf"); np.quantile(h, 0.3)
np.quantile(v, [0.05, 0.5, 0.9], method="closest_observation")
np.quantile(v, 0.33, method="interpolated_inverted_cdf"); np.quantile(v, 0.33, method="median_unbiased")
np.quantile(f, [[0.2], [0.7]], 0); np.quantile(h, [0.25]); np.percentile(f, 30)
np.percentile(f, [10, 90], 0, keepdims=True); np.percentile(i, 50, method="nearest"); np.nanquantile(n, 0.3)
np.nanquantile(n, [0.2, 0.8], 0); np.nanquantile(n, 0.4, 1, method="higher")
np.nanquantile(n, 0.4, 1, keepdims=True, method="hazen"); np.nanpercentile(n, [5, 50], 1)
np.median(np.zeros((0, 2), "f4"), 0); np.nanmedian(np.zeros((0, 2), "f4"), 0, keepdims=True)
np.nanpercentile(np.zeros((0, 2), "f4"), [50], 0); np.quantile(h, [0.2, 0.9], method="nearest")
np.percentile(np.zeros((4, 0)), [10, 90], 0)
np.nanvar(c, ddof=6); np.nanstd(n, 1, ddof=2); np.nanvar(i, 1, ddof=3); np.var(c, ddof=9); np.nanstd(w, ddof=1)
np.cumulative_sum(1.5); np.nanpercentile(n, 20, method="midpoint"); np.nanpercentile(n, 20, method="weibull")
"""
STATISTICS = """
np.average(f); np.average(f, 1, [1, 2, 3]); np.average(f, weights=g); np.average(f, 0, [1, 3], returned=True)
np.average(i, 0); np.average(f, 1, w, keepdims=True); np.cov(f); np.cov(f, rowvar=False); np.cov(v, v * 2)
np.cov(f, bias=True); np.cov(f, ddof=0); np.cov(f, fweights=[1, 2, 1]); np.cov(f, aweights=[0.5, 2, 1]); np.cov(v)
np.cov(c); np.corrcoef(f); np.corrcoef(v, v[::-1]); np.corrcoef(c); np.corrcoef(v); np.histogram(v)
np.histogram(v, 3, (0, 6)); np.histogram(v, [0, 2, 4, 6]); np.histogram(i, 4); np.histogram(v, 3, density=True)
np.histogram(v, 2, weights=v); np.histogram(b, 2); np.histogram([]); np.histogram_bin_edges(v, 4)
np.histogram_bin_edges(h, 3); np.histogram_bin_edges([1, 1], 2); np.histogram_bin_edges(v, 2, (0, 1))
np.histogram_bin_edges(v, [0, 1, 5]); np.histogram2d(v, v[::-1], 3); np.histogram2d(v, v, [2, 3], [[0, 6], [1, 5]])
np.histogram2d(v, v, [[0, 3, 6], 2], weights=v); np.histogram2d(v, v, 2, density=True); np.histogramdd(f.T, 2)
np.histogramdd((v, v, v), (2, 1, 3)); np.histogramdd(f.T, [[0, 1, 4], [-3, 5]]); np.bincount(j); np.bincount(b[0])
np.bincount(j, minlength=6); np.bincount(j, [0.5, 1, 2, 4]); np.digitize(v, [1, 2, 4]); np.digitize(v, [4, 2, 1])
np.digitize(v, [1, 2, 4], True); np.digitize(2.5, [1, 2, 3]); np.digitize(v, [4, 2, 1], right=True)
"""
SIGNAL = """
np.diff(v); np.diff(f, 1, 0); np.diff(v, 2); np.diff(f, prepend=0, append=[[1], [2]]); np.diff(b); np.diff(v, 0)
np.diff(u); np.ediff1d(v); np.ediff1d(f, to_begin=9, to_end=[7, 8]); np.trapezoid(v); np.trapezoid(v, dx=0.5)
np.trapezoid(f, w); np.trapezoid(f, axis=0); np.trapezoid(f, g, axis=1); np.trapezoid(i)
np.interp([0.5, 1.5, 9, -1], [0, 1, 2], [3, 5, 4]); np.interp(f, [0, 1, 2], w, left=-1, right=8)
np.interp(2.5, v[:1], v[:1]); np.interp([0.5, -190, 400], [190, -190, 350, -350], [5, 10, 3, 4], period=360)
np.interp(1, [0, 2], [1j, 3]); np.gradient(v); np.gradient(v, 2.0); np.gradient(v, [0, 1, 3, 4, 7]); np.gradient(f)
np.gradient(t, 2.0, axis=1); np.gradient(v, edge_order=2); np.gradient(v, [0, 1, 3, 4, 7], edge_order=2)
np.gradient(f, 1.0, w, axis=(0, 1)); np.gradient(t, 1.0, 2.0, axis=(1, 2)); np.gradient([1, 2, 4])
np.gradient(h, axis=1); np.convolve(v, w); np.convolve(w, v, "same"); np.convolve(v, w, "valid")
np.convolve(w, v, "valid"); np.convolve([1, 2], [3, 4, 5]); np.convolve(v, [1, 2], "same"); np.convolve(c[0], c[1])
np.convolve([True, False], [True, True]); np.correlate(v, w); np.correlate(w, v); np.correlate(v, w, "full")
np.correlate(v, w, "same"); np.correlate(w, v, "same"); np.correlate(w, v, "full"); np.correlate(c[0], c[1], "full")
np.correlate(v, [1, 2], "same"); np.correlate([1, 2], v, "same"); np.cross(f, g); np.cross([1, 2, 3], f)
np.cross(f.T, g.T, axis=0); np.cross(i, i[::-1]); np.cross(f.T, g, axisa=0, axisc=0)
"""
DTYPES = """
np.can_cast("int8", "int16"); np.can_cast(np.float64, np.int32, "same_kind"); np.promote_types("int8", "uint8")
np.result_type(s, h); np.result_type(s, 3.0); np.result_type("i4", np.float32); np.min_scalar_type(300)
np.common_type(h, s); np.common_type(h, h); np.mintypecode(["f", "d"]); np.issubdtype(np.float32, np.floating)
np.issubdtype(f.dtype, np.integer); np.isdtype(np.float32, "real floating"); np.isdtype(f.dtype, np.int8)
np.isscalar(3.0); np.isscalar(f); np.iterable(f); np.iterable(3); np.typename("d"); np.finfo(np.float32).eps
np.iinfo("int16").max; np.pi; np.e; np.inf; np.nan; np.euler_gamma; np.True_; np.False_; np.newaxis is None
np.little_endian; np.typecodes["Float"]; np.zeros(1, np.int_); np.zeros(1, np.single); np.zeros(1, np.bool_)
np.dtype("f4") == "float32"; isinstance(f, np.ndarray); np.array2string(f, precision=2); np.array_str(v)
np.array_repr(v); np.format_float_positional(2.5); np.format_float_scientific(1234.5)
np.get_printoptions()["precision"]; np.set_printoptions(); np.printoptions(precision=3) is None
np.float32 == np.single; np.isfortran(f); np.astype(v, np.int16); np.zeros(2, np.half); np.zeros(2, np.csingle)
isinstance(np.add, np.ufunc)
"""
CALLS = UFUNCS + MATH + REDUCTIONS + STATISTICS + SIGNAL + DTYPES
