"""Bools whose bytes are others than 0 and 1: every byte but 0 is true, through every door and in every op."""

import io
import pickle

import numpy as np
import pytest

import stator
import stator.numpy as snp

BYTES = np.array([0, 255, 1, 2, 0, 128, 3, 0], dtype=np.uint8)
WANTED = BYTES != 0
HOST = BYTES.view(bool)


def saved():
    buffer = io.BytesIO()
    np.save(buffer, HOST)
    buffer.seek(0)
    return buffer


def copied_from(be):
    x = be.zeros(8, dtype="bool")
    x.copy_from(BYTES)
    return x


def ranges_of(be):
    x = be.zeros(8, dtype="bool")
    be.transfers.write_ranges([(x, 0, BYTES)])
    return x


def copied_buffer(be):
    x = be.zeros(8, dtype="bool")
    be.memory.copy_buffer(be.asarray(BYTES), 0, x, 0, 8)
    return x


def written_as_bytes(be):
    x = be.zeros(8, dtype="bool")
    x.view("uint8")[...] = be.asarray(BYTES)
    return x


def strided(be):
    return be.asarray(np.repeat(BYTES, 2)).view("bool")[::2]


def sub_buffer(be):
    descriptor = stator.memory.BufferDescriptor(8, dtype="bool")
    return be.memory.create_sub_buffer(be.asarray(np.concatenate([BYTES, BYTES])), 8, descriptor)


DOORS = {
    "view": lambda be: be.asarray(BYTES).view("bool"),
    "view of int8": lambda be: be.asarray(BYTES).view("int8").view("bool"),
    "strided view": strided,
    "asarray": lambda be: be.asarray(HOST),
    "asarray of a strided array": lambda be: be.asarray(np.repeat(HOST, 2)[::2]),
    "asarray through page-locked memory": lambda be: be.asarray(HOST, pinned=True),
    "from_dlpack": lambda be: stator.from_dlpack(be.asarray(BYTES).view("bool")),
    "from_dlpack of a copy": lambda be: stator.from_dlpack(be.asarray(BYTES).view("bool"), copy=True),
    "frombuffer": lambda be: snp.frombuffer(BYTES.tobytes(), dtype=bool).to_device(be),
    "load": lambda be: snp.load(saved()).to_device(be),
    "pickle": lambda be: pickle.loads(pickle.dumps(be.asarray(BYTES).view("bool"))).to_device(be),
    "copy_from": copied_from,
    "write_ranges": ranges_of,
    "copy_buffer": copied_buffer,
    "a view written as bytes": written_as_bytes,
    "create_sub_buffer": sub_buffer,
    "reshape": lambda be: be.asarray(BYTES).view("bool").reshape(2, 4).reshape(8),
    "ravel of a transpose": lambda be: (
        stator.ravel(be.asarray(BYTES.reshape(2, 4)).view("bool").T).reshape(4, 2).T.ravel()
    ),
    "copy": lambda be: be.asarray(BYTES).view("bool").copy(),
    "to_device": lambda be: be.asarray(BYTES).view("bool").to_device("cpu").to_device(be),
}
OTHER = np.array([1, 0, 1, 1, 0, 0, 1, 1], dtype=bool)
OPS = {
    "sum": lambda x, o: x.sum(),
    "mean": lambda x, o: x.mean(),
    "cumsum": lambda x, o: x.cumsum(),
    "any": lambda x, o: x.any(),
    "max": lambda x, o: x.max(),
    "argmax": lambda x, o: x.argmax(),
    "argsort": lambda x, o: x.argsort(),
    "astype int8": lambda x, o: x.astype("int8"),
    "astype float64": lambda x, o: x.astype("float64"),
    "astype complex64": lambda x, o: x.astype("complex64"),
    "invert": lambda x, o: ~x,
    "equal": lambda x, o: x == o,
    "less": lambda x, o: o < x,
    "and": lambda x, o: x & o,
    "xor": lambda x, o: o ^ x,
    "add": lambda x, o: x + 1,
    "multiply": lambda x, o: x * 2.5,
    "divide": lambda x, o: o / (x + 1),
    "mask": lambda x, o: o[x],
    "indexed": lambda x, o: x[[1, 5, 0]],
    "taken": lambda x, o: x.take([3, 2]),
    "nonzero": lambda x, o: x.nonzero()[0],
    "compress": lambda x, o: o.compress(x),
    "repeat": lambda x, o: x.repeat(2),
    "slice": lambda x, o: x[1:7:2].sum(),
    "item": lambda x, o: x[1].item(),
    "dot": lambda x, o: x.astype("int64") @ o.astype("int64"),
}
FUNCTIONS = {
    "where": lambda m, x, o: m.where(x, 5, 7),
    "unique": lambda m, x, o: m.unique(x),
    "sort": lambda m, x, o: m.sort(x),
    "count_nonzero": lambda m, x, o: m.count_nonzero(x),
    "concatenate": lambda m, x, o: m.concatenate([x, o, x]).sum(),
    "stack": lambda m, x, o: m.stack([o, x]).sum(axis=1),
    "isin": lambda m, x, o: m.isin(x, True),
    "diff": lambda m, x, o: m.diff(x),
    "sum where": lambda m, x, o: m.sum(m.arange(8), where=x),
    "logical_xor": lambda m, x, o: m.logical_xor(x, o),
    "array_equal": lambda m, x, o: (
        m.array_equal(x, WANTED) if m is np else m.array_equal(x, snp.asarray(WANTED, device=o.backend))
    ),
    "flip": lambda m, x, o: m.flip(x).sum(),
    "roll": lambda m, x, o: m.roll(x, 1).astype("uint8"),
    "searchsorted": lambda m, x, o: m.searchsorted(m.sort(x), x),
    "packbits": lambda m, x, o: m.packbits(x),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_gives_true_for_every_byte_but_0(be, door):
    x = DOORS[door](be)
    assert x.dtype == "bool" and x.tolist() == WANTED.tolist()
    assert stator.sum(x).item() == WANTED.sum()
    assert x.astype("uint8").tolist() == WANTED.tolist()
    assert (~x).tolist() == (~WANTED).tolist()
    assert (x == True).tolist() == WANTED.tolist()  # noqa: E712
    assert x.copy().view("uint8").tolist() == WANTED.tolist()
    assert x.to_numpy().view(np.uint8).tolist() == WANTED.tolist()


@pytest.mark.parametrize("op", OPS)
def test_every_op_reads_them_so(be, op):
    got = OPS[op](be.asarray(BYTES).view("bool"), be.asarray(OTHER))
    want = OPS[op](WANTED, OTHER)
    np.testing.assert_array_equal(got.to_numpy() if isinstance(got, stator.Array) else got, want)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_reads_them_so(be, function):
    got = FUNCTIONS[function](snp, be.asarray(BYTES).view("bool"), be.asarray(OTHER))
    want = FUNCTIONS[function](np, WANTED, OTHER)
    np.testing.assert_array_equal(got.to_numpy() if isinstance(got, stator.Array) else got, want)


def test_masks_of_softmax_and_attention_are_read_so(be):
    x = be.asarray(np.arange(8.0))
    mask = be.asarray(BYTES).view("bool")
    want = stator.nn.softmax(x, mask=be.asarray(WANTED)).to_numpy()
    np.testing.assert_array_equal(stator.nn.softmax(x, mask=mask).to_numpy(), want)
    q, k = be.ones((1, 4)), be.asarray(np.arange(32.0).reshape(8, 4) / 32)
    want = stator.nn.attention(q, k, k, mask=be.asarray(WANTED[None])).to_numpy()
    np.testing.assert_array_equal(stator.nn.attention(q, k, k, mask=mask.reshape(1, 8)).to_numpy(), want)


def test_views_share_their_memory(be):
    bits = be.asarray(BYTES)
    view = bits.view("bool")
    view[1:3] = False
    bits[0] = 77
    assert bits.tolist() == [77, 0, 0, 2, 0, 128, 3, 0]
    assert view.tolist() == [True, False, False, True, False, True, True, False]
    view.reshape(2, 4)[1] = True
    view &= view
    assert bits.tolist() == [1, 0, 0, 1, 1, 1, 1, 1]


def test_foreign_memory_is_read_as_its_owner_writes_it():
    with stator.Backend("cpu") as be:
        host = np.zeros(4, dtype=np.uint8)
        shared = stator.from_dlpack(host.view(bool), device=be)
        by_buffer = be.asarray(host.view(bool), copy=False)
        host[:] = [0, 255, 1, 0]
        for x in (shared, by_buffer):
            assert x.sum().item() == 2 and (x ^ True).tolist() == [True, False, False, True]
        by_buffer[0] = True
        assert host.tolist() == [1, 255, 1, 0]


def test_assigned_bools_are_0_and_1(be):
    x = be.zeros(8, dtype="bool")
    x[...] = be.asarray(BYTES).view("bool")
    assert x.view("uint8").tolist() == WANTED.tolist()
    x = be.zeros(8, dtype="int32")
    x[be.arange(8)] = be.asarray(BYTES).view("bool")
    assert x.tolist() == WANTED.tolist()


def test_they_are_read_so_in_a_graph(be):
    bits = be.asarray(BYTES)
    with be.capture() as graph:
        total = bits.view("bool").sum()
    bits[0] = 9
    graph.launch()
    assert total.item() == WANTED.sum() + 1
