"""opt_einsum, einops, matplotlib and pandas take stator's arrays."""

import numpy as np
import pytest

import stator

HOST = np.random.default_rng(0).normal(size=(6, 4))
CONTRACTIONS = ["ij,ik->jk", "ij,ij->", "ij,kj,kl->il", "ij,kl->ijkl"]


@pytest.mark.parametrize("text", CONTRACTIONS)
def test_opt_einsum_contracts(be, text):
    einsum = pytest.importorskip("opt_einsum", reason="opt_einsum is not installed")
    count = text.split("->")[0].count(",") + 1
    x, want = be.asarray(HOST), np.einsum(text, *[HOST] * count)
    expression = einsum.contract_expression(text, *[HOST.shape] * count)
    for got in (einsum.contract(text, *[x] * count), expression(*[x] * count)):
        assert isinstance(got, stator.Array) and got.backend is be
        np.testing.assert_allclose(got.to_numpy(), want, rtol=1e-12)


def test_opt_einsum_keeps_constants(be):
    einsum = pytest.importorskip("opt_einsum", reason="opt_einsum is not installed")
    x = be.asarray(HOST)
    expression = einsum.contract_expression("ij,ik,kl->jl", x, HOST.shape, (4, 2), constants=[0])
    got = expression(x, be.asarray(HOST[:4, :2]))
    np.testing.assert_allclose(got.to_numpy(), HOST.T @ HOST @ HOST[:4, :2], rtol=1e-12)


def test_einops_by_the_array_api(be):
    einops = pytest.importorskip("einops.array_api", reason="einops is not installed")
    reference = pytest.importorskip("einops", reason="einops is not installed")
    x = be.asarray(HOST)
    pairs = (
        (einops.rearrange(x, "(a x) b -> x b a", x=2), reference.rearrange(HOST, "(a x) b -> x b a", x=2)),
        (einops.reduce(x, "a b -> b", "max"), HOST.max(axis=0)),
        (einops.repeat(x, "a b -> a b c", c=3), np.repeat(HOST[..., None], 3, axis=2)),
        (einops.pack([x, x], "* b")[0], np.concatenate([HOST, HOST])),
    )
    for got, want in pairs:
        assert isinstance(got, stator.Array) and got.backend is be
        np.testing.assert_array_equal(got.to_numpy(), want)


def test_matplotlib_draws(be):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed").use("Agg")
    from matplotlib.figure import Figure

    x, figure = be.asarray(HOST), Figure()
    axes = figure.subplots()
    (line,) = axes.plot(x[:, 0], x[:, 1])
    np.testing.assert_array_equal(line.get_xydata(), HOST[:, :2])
    np.testing.assert_array_equal(axes.imshow(x).get_array(), HOST)
    np.testing.assert_array_equal(axes.scatter(x[:, 0], x[:, 1], c=x[:, 2]).get_array(), HOST[:, 2])
    assert axes.hist(x[:, 0], bins=3)[0].sum() == 6
    assert [bar.get_height() for bar in axes.bar(be.arange(6), x[:, 3])] == HOST[:, 3].tolist()
    axes.axhline(x[0, 0])
    figure.canvas.draw()


def test_pandas_takes_and_gives(be):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    x = be.asarray(HOST)
    frame = pd.DataFrame(x, columns=list("abcd"))
    assert (frame.dtypes == np.float64).all()
    np.testing.assert_array_equal(frame.to_numpy(), HOST)
    np.testing.assert_array_equal(pd.Series(x[:, 0]).to_numpy(), HOST[:, 0])
    np.testing.assert_array_equal(frame.assign(e=x[:, 1])["e"], HOST[:, 1])
    for back, want in ((be.asarray(frame), HOST), (be.asarray(frame["b"]), HOST[:, 1])):
        np.testing.assert_array_equal(back.to_numpy(), want)
    with pytest.raises(TypeError, match="asarray"):
        frame["a"] + x[:, 0]
