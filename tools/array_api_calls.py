"""The calls of scikit-learn and SciPy that tools/array_api_tables.py runs on stator's arrays, by the module.

`m`, `labels`, ... are the operands of the tool, `xp` is stator, and `at` the module itself.
"""

ESTIMATORS = {
    "decomposition": """
PCA(3, svd_solver='full').fit_transform(m);
PCA(3, svd_solver='covariance_eigh').fit(m).inverse_transform(m[:, :3]);
PCA(3, svd_solver='randomized', power_iteration_normalizer='QR', random_state=0).fit_transform(m);
PCA(3, svd_solver='arpack').fit_transform(m); IncrementalPCA(3).fit_transform(m);
TruncatedSVD(2).fit_transform(m)
""",
    "discriminant_analysis": """
LinearDiscriminantAnalysis().fit(m, labels).predict(m);
QuadraticDiscriminantAnalysis().fit(m, labels).predict(m)
""",
    "linear_model": """
Ridge(solver='svd').fit(m, target).predict(m); RidgeCV(gcv_mode='svd').fit(m, target).predict(m);
RidgeClassifier(solver='svd').fit(m, labels).predict(m); RidgeClassifierCV().fit(m, labels).predict(m);
LogisticRegression(solver='lbfgs').fit(m, labels).predict_proba(m);
LinearRegression().fit(m, target).predict(m); Lasso().fit(m, target).predict(m)
""",
    "preprocessing": """
StandardScaler().fit_transform(m); MinMaxScaler().fit_transform(m); MaxAbsScaler().fit_transform(m);
RobustScaler().fit_transform(m); Normalizer().fit_transform(m); Binarizer().fit_transform(m);
PolynomialFeatures(2).fit_transform(m); KernelCenterer().fit_transform(s);
LabelEncoder().fit_transform(labels); LabelBinarizer().fit_transform(labels);
QuantileTransformer(n_quantiles=9).fit_transform(m); PowerTransformer().fit_transform(positive)
""",
    "naive_bayes": """
GaussianNB().fit(m, labels).predict(m)
""",
    "mixture": """
GaussianMixture(2, init_params='random_from_data', random_state=0).fit(m).means_
""",
    "kernel_approximation": """
Nystroem(n_components=4, random_state=0).fit_transform(m)
""",
    "calibration": """
CalibratedClassifierCV(cv=2).fit(m, labels).predict_proba(m)
""",
    "model_selection": """
train_test_split(m, labels, random_state=0); cross_val_predict(Ridge(solver='svd'), m, target);
GridSearchCV(Ridge(solver='svd'), {'alpha': [1, 2]}).fit(m, target).predict(m)
""",
    "pipeline": """
make_pipeline(StandardScaler()).fit_transform(m)
""",
    "neighbors": """
KNeighborsClassifier().fit(m, labels).predict(m)
""",
    "cluster": """
KMeans(2, n_init=1, random_state=0).fit_predict(m)
""",
    "covariance": """
EmpiricalCovariance().fit(m).covariance_; LedoitWolf().fit(m).covariance_
""",
}
METRICS = """
accuracy_score(labels, guess); balanced_accuracy_score(labels, guess);
brier_score_loss(labels, positive[:, 0] / 9); cohen_kappa_score(labels, guess);
confusion_matrix(labels, guess); d2_tweedie_score(target, m[:, 0]); explained_variance_score(target, m[:, 0]);
f1_score(labels, guess); fbeta_score(labels, guess, beta=2); hamming_loss(labels, guess);
jaccard_score(labels, guess); log_loss(labels, positive[:, 0] / 9); matthews_corrcoef(labels, guess);
max_error(target, m[:, 0]); mean_absolute_error(target, m[:, 0]);
mean_absolute_percentage_error(target, m[:, 0]); mean_gamma_deviance(positive[:, 0], positive[:, 1]);
mean_pinball_loss(target, m[:, 0]); mean_poisson_deviance(positive[:, 0], positive[:, 1]);
mean_squared_error(target, m[:, 0]); mean_squared_log_error(positive[:, 0], positive[:, 1]);
mean_tweedie_deviance(target, m[:, 0]); median_absolute_error(target, m[:, 0]);
multilabel_confusion_matrix(labels, guess); pairwise_distances(m); precision_score(labels, guess);
precision_recall_curve(labels, m[:, 0]); precision_recall_fscore_support(labels, guess);
r2_score(target, m[:, 0]); recall_score(labels, guess); roc_auc_score(labels, m[:, 0]);
roc_curve(labels, m[:, 0]); root_mean_squared_error(target, m[:, 0]); zero_one_loss(labels, guess);
pairwise.cosine_similarity(m); pairwise.cosine_distances(m); pairwise.euclidean_distances(m);
pairwise.additive_chi2_kernel(positive); pairwise.chi2_kernel(positive); pairwise.laplacian_kernel(m);
pairwise.linear_kernel(m); pairwise.manhattan_distances(m); pairwise.paired_cosine_distances(m, m);
pairwise.paired_euclidean_distances(m, m); pairwise.polynomial_kernel(m); pairwise.rbf_kernel(m);
pairwise.sigmoid_kernel(m)
"""
SCIPY = {
    "fft": """
fft(v); ifft(c); rfft(v); irfft(c); fft2(image); ifft2(image); fftn(image); ifftn(image); rfftn(image);
irfftn(image); rfft2(image); irfft2(image); hfft(c); ihfft(v); hfftn(image); ihfftn(image); fftshift(v);
ifftshift(v); fftfreq(8, xp=xp); rfftfreq(8, xp=xp); dct(v); idct(v); dst(v); idst(v); dctn(image);
idctn(image); dstn(image); fht(v, 0.1, 0.5); ifht(v, 0.1, 0.5)
""",
    "special": """
expit(v); logit(p); gammaln(p); gammainc(p, p); gammaincc(p, p); erf(v); erfc(v); ndtr(v); ndtri(p);
log_ndtr(v); i0(v); i0e(v); i1(v); i1e(v); xlogy(p, p); xlog1py(p, p); entr(p); rel_entr(p, p); kl_div(p, p);
logsumexp(m, axis=1); softmax(m, axis=1); log_softmax(m, axis=1); digamma(p); polygamma(1, p); psi(p);
gamma(p); rgamma(p); beta(p, p); betaln(p, p); betainc(p, p, p); zeta(p + 1, p); exp1(p); expm1(v); log1p(p);
sinc(v); cbrt(v); exp2(v); exp10(v); j0(v); j1(v); jv(1, p); chdtr(p, p); chdtrc(p, p); stdtr(p, p);
stdtrit(p, p); betaincinv(p, p, p); erfinv(p); gammaincinv(p, p); huber(p, v); pseudo_huber(p, v);
boxcox(p, 0.5); spherical_jn(1, p); multigammaln(p + 5, 2); hyp2f1(p, p, p, p); binom(p, p)
""",
    "linalg": """
bandwidth(s); issymmetric(s); ishermitian(s); inv(s); solve(s, b); det(s); cholesky(s); lu(s); qr(s); svd(s);
svdvals(s); eigh(s); eig(s); eigvals(s); lstsq(m, m[:, 0]); pinv(m); norm(m); expm(s / 99); sqrtm(s);
cho_factor(s); block_diag(s, s); toeplitz(b); circulant(b); hankel(b); hilbert(4); khatri_rao(s, s);
solve_triangular(s, b); null_space(m.T); orth(m)
""",
    "integrate": """
trapezoid(v, x=t); simpson(v, x=t); cumulative_trapezoid(v, x=t); cumulative_simpson(v, x=t);
cubature(lambda x: x[:, 0] ** 2, xp.asarray([0.0]), xp.asarray([1.0]));
tanhsinh(lambda x: xp.exp(-x), xp.asarray(0.0), xp.asarray(1.0));
nsum(lambda k: 1 / k**2, xp.asarray(1.0), xp.asarray(99.0))
""",
    "interpolate": """
BSpline(t, v, 3); CubicSpline(t, v)(t); PchipInterpolator(t, v)(t); Akima1DInterpolator(t, v)(t);
make_interp_spline(t, v)(t); make_smoothing_spline(t, v)(t); BarycentricInterpolator(t[:8], v[:8])(t);
AAA(t, v)(t); PPoly(m[:4, :], t[:6])(t); RBFInterpolator(m, m[:, 0])(m);
RegularGridInterpolator((t[:16], t[:16]), image)(m[:, :2] * 0.01 + 0.1)
""",
    "optimize.elementwise": """
find_root(lambda x: x**2 - 2, (xp.asarray(0.0), xp.asarray(3.0)));
find_minimum(lambda x: (x - 1) ** 2, (xp.asarray(-3.0), xp.asarray(0.0), xp.asarray(3.0)));
bracket_root(lambda x: x - 9, xp.asarray(0.0)); bracket_minimum(lambda x: x**2, xp.asarray(3.0))
""",
    "optimize": """
rosen(b); rosen_der(b); rosen_hess(b); approx_fprime(b, lambda x: xp.sum(x));
minimize(lambda x: ((x - 1) ** 2).sum(), b)
""",
    "differentiate": """
derivative(xp.exp, xp.asarray(1.0)); jacobian(lambda x: x**2, b); hessian(lambda x: xp.sum(x**2, axis=0), b)
""",
    "cluster.vq": """
whiten(m); vq(m, m[:3, :]); kmeans(m, m[:3, :]); kmeans2(m, m[:3, :], minit='matrix')
""",
    "cluster.hierarchy": """
linkage(m); fcluster(at.linkage(m), 3); cophenet(at.linkage(m)); leaves_list(at.linkage(m))
""",
    "spatial.distance": """
cdist(m, m); pdist(m); squareform(at.pdist(m)); euclidean(b, b); cosine(b, b); cityblock(b, b)
""",
    "spatial.transform": """
Rotation.from_quat(s[0, :4]).as_matrix(); Rotation.from_rotvec(m[:, :3]).apply(m[:, :3]);
Rotation.from_euler('xyz', m[:, :3]).as_quat(); RigidTransform.from_translation(m[:, :3]).as_matrix()
""",
    "signal": """
convolve(v, w[:9]); fftconvolve(v, w[:9]); oaconvolve(v, w[:9]); correlate(v, w);
convolve2d(image, image[:3, :3]); correlate2d(image, image[:3, :3]); detrend(v); hilbert(v); hilbert2(image);
envelope(v); stft(v, nperseg=16); istft(image); welch(v, nperseg=16); periodogram(v); csd(v, w, nperseg=16);
coherence(v, w, nperseg=16); spectrogram(v, nperseg=16); lombscargle(t, v, t + 1); resample(v, 32);
resample_poly(v, 2, 3); decimate(v, 2); lfilter(b, xp.asarray([1.0]), v);
filtfilt(b, xp.asarray([1.0]), v, padlen=3); sosfilt(xp.asarray([[1.0, 0, 0, 1, 0, 0]]), v);
savgol_filter(v, 7, 2); medfilt(v, 3); medfilt2d(image, 3); wiener(image, 3); order_filter(v, xp.ones(3), 1);
find_peaks(v); gausspulse(t); chirp(t, 1.0, 1.0, 9.0); sawtooth(t); square(t); sweep_poly(t, b);
freqz(b, worN=8); sosfreqz(xp.asarray([[1.0, 0, 0, 1, 0, 0]]), worN=8);
group_delay((b, xp.asarray([1.0])), w=8); bilinear(b, b); firwin(9, 0.3); firwin2(9, t[::63], t[::63]);
firls(9, t[::63], t[::63]); tf2zpk(b, b); zpk2tf(c[:2], c[:2], 1.0); tf2sos(b, b); windows.hann(16, xp=xp);
windows.hamming(16, xp=xp); windows.blackman(16, xp=xp); windows.kaiser(16, 8.0, xp=xp);
windows.tukey(16, xp=xp); windows.dpss(16, 2, xp=xp); upfirdn(b, v); zoom_fft(v, 0.5); czt(v);
unique_roots(c[:4]); invres(b[:2], b[:2], b[:1]); vectorstrength(t, 0.5); argrelmax(v); spline_filter(image);
cspline1d(v); sepfir2d(image, b, b)
""",
    "ndimage": """
gaussian_filter(image, 1.0); uniform_filter(image, 3); median_filter(image, 3); convolve(image, image[:3, :3]);
correlate(image, image[:3, :3]); sobel(image); laplace(image); rotate(image, 30.0); shift(image, 1.0);
zoom(image, 2.0); label(image > 0); sum_labels(image, image > 0); binary_erosion(image > 0);
distance_transform_edt(image > 0); map_coordinates(image, image[:2, :]); maximum_filter(image, 3)
""",
    "stats": """
zscore(m); zmap(v, v); gzscore(p); skew(m); kurtosis(m); moment(m, 3); kstat(v); kstatvar(v); describe(m);
gmean(p); hmean(p); pmean(p, 2); expectile(v); sem(m); variation(p); iqr(v); median_abs_deviation(v);
entropy(p); differential_entropy(v); mode(i); tmean(v, (-1, 1)); tvar(v, (-1, 1)); tstd(v, (-1, 1));
tsem(v, (-1, 1)); tmin(v, -1); tmax(v, 1); cumfreq(v); circmean(v); circvar(v); circstd(v);
directional_stats(m); sigmaclip(v); trimboth(v, 0.1); trim_mean(v, 0.1); trim1(v, 0.1); rankdata(v);
boxcox_llf(0.5, p); quantile(v, p[:3]); ttest_1samp(v, 0.0); ttest_ind(v, w); ttest_rel(v, w);
ttest_ind_from_stats(p, p, 9, p, p, 9); chisquare(i, i); power_divergence(i, i); pearsonr(v, w);
spearmanr(v, w); kendalltau(v, w); linregress(v, w); theilslopes(v, w); skewtest(v); kurtosistest(v);
normaltest(v); jarque_bera(v); combine_pvalues(p); false_discovery_control(p); bartlett(v, w); levene(v, w);
fligner(v, w); f_oneway(v, w); alexandergovern(v, w); kruskal(v, w); mannwhitneyu(v, w); wilcoxon(v);
friedmanchisquare(v, w, v + w); ks_1samp(p, lambda x: x); ks_2samp(v, w); cramervonmises(p, lambda x: x);
cramervonmises_2samp(v, w); anderson(v); shapiro(v); bws_test(v, w); mood(v, w); ansari(v, w);
epps_singleton_2samp(v, w); energy_distance(v, w); wasserstein_distance(v, w); lmoment(v);
obrientransform(v, w); chatterjeexi(v, w); bootstrap((v,), xp.mean, n_resamples=9);
permutation_test((v, w), lambda x, y, axis: xp.mean(x, axis=axis) - xp.mean(y, axis=axis), n_resamples=9);
contingency.expected_freq(table); contingency.chi2_contingency(table); contingency.margins(table);
Normal(mu=v, sigma=p).pdf(w); Uniform(a=v, b=v + 1).cdf(w); norm.pdf(v); norm.cdf(v);
multivariate_normal.pdf(m, mean=b, cov=s); gaussian_kde(v)(v); binned_statistic(v, v)
""",
}
