"""Nested arguments and results of functions that are captured."""

from collections import OrderedDict, defaultdict
from typing import NamedTuple

import numpy as np
import pytest

from stator.graphs._graph import flatten, unflatten


class Pair(NamedTuple):
    left: object
    right: object


class Row(list):
    pass


class Settings(dict):
    pass


def calls(f, make, count=4):
    """What a captured function returns for new arguments each time, the last two times by a launch."""
    return [f(*make(float(value))) for value in range(count)]


def test_arrays_in_every_kind_of_container_are_arguments(be):
    f = be.graph(lambda x, rest: x + rest["a"][0] * 10 + rest["b"].left * 100 + rest["b"].right[0][0] * 1000)

    def make(value):
        a, b, c, d = (be.full(2, value + i) for i in range(4))
        return a, {"a": [b], "b": Pair(c, ([d],))}

    assert [y.tolist() for y in calls(f, make)] == [[3210.0 + 1111 * value] * 2 for value in range(4)]
    captures = f.cache_info().captures
    assert calls(f, make, 1)[0].tolist() == [3210.0] * 2
    assert f.cache_info().captures == captures and f.cache_info().graphs == 1


def test_results_have_the_containers_that_the_function_returned(be):
    f = be.graph(lambda x: {"pair": Pair(x + 1, [x + 2]), "row": Row([x + 3]), "none": (None, (), {}, 2.5)})
    for value, made in enumerate(calls(f, lambda value: (be.full(1, value),))):
        assert [type(made[name]) for name in made] == [Pair, Row, tuple]
        assert made["pair"].left.item() == value + 1 and made["pair"].right[0].item() == value + 2
        assert made["row"][0].item() == value + 3 and made["none"] == (None, (), {}, 2.5)


def test_results_may_be_arguments_views_of_them_and_arrays_from_outside(be):
    outside = be.zeros(2)
    f = be.graph(lambda x, y: (y, [x[1:], x + y], outside))
    for value in range(4):
        x, y = be.full(3, float(value)), be.ones(1)
        same, (view, total), other = f(x, y)
        x[...] = 7
        assert same.data_ptr == y.data_ptr
        assert view.tolist() == [7.0, 7.0] and total.tolist() == [value + 1.0] * 3
        assert other.data_ptr == outside.data_ptr


def test_one_array_in_two_containers_is_one_memory(be):
    @be.graph
    def add(one, others):
        others["x"] += 1
        return one[0] * 2

    for value in range(4):
        x = be.full(2, float(value))
        assert add([x], {"x": x}).tolist() == [2.0 * (value + 1)] * 2
        assert x.tolist() == [value + 1.0] * 2


CONTAINERS = {
    "a tuple and a list": (lambda x: (x,), lambda x: [x]),
    "a tuple and a named one": (lambda x: (x, x), lambda x: Pair(x, x)),
    "a list and a class of it": (lambda x: [x], lambda x: Row([x])),
    "a dict and a class of it": (lambda x: {"x": x}, lambda x: Settings(x=x)),
    "dicts in another order": (lambda x: {"a": x, "b": 1}, lambda x: {"b": 1, "a": x}),
    "classes of dict in two positions": (lambda x: [Settings(x=x), {"x": x}], lambda x: [{"x": x}, Settings(x=x)]),
    "depths": (lambda x: [[x], 1], lambda x: [[x, 1]]),
    "an array and a list of it": (lambda x: x, lambda x: [x]),
    "a constant and an array": (lambda x: (x, None), lambda x: (None, x)),
}


@pytest.mark.parametrize("case", CONTAINERS)
def test_containers_that_a_function_can_tell_apart_have_graphs_of_their_own(be, case):
    f, x = be.graph(lambda value: be.ones(1) + 1), be.ones(2)
    for make in CONTAINERS[case] * 2:
        f(make(x))
    assert f.cache_info().graphs == 2


def test_the_class_of_a_dict_reaches_the_work(be):
    f = be.graph(lambda options: options["x"] * (3 if isinstance(options, Settings) else 2))
    for kind, factor in ((dict, 2), (Settings, 3)) * 3:
        assert f(kind(x=be.ones(1))).item() == factor


@pytest.mark.parametrize("options", [{"scale": 2}, {"scale": 3}, {"shift": 2}, {"scale": 2, "shift": 1}])
def test_constants_by_keyword_reach_the_work(be, options):
    f = be.graph(lambda x, scale=1, shift=0: x * scale + shift)
    for other in ({}, {"scale": 5}, options, {"shift": 5}) * 3:
        expected = 3 * other.get("scale", 1) + other.get("shift", 0)
        assert f(be.full(1, 3.0), **other).item() == expected


def test_many_arguments_that_share_memory_are_told_from_those_that_do_not(be):
    f = be.graph(lambda *rows: sum(row * (i + 1) for i, row in enumerate(rows)))
    table, others = be.asarray(np.arange(48.0).reshape(6, 8)), [be.full(8, float(i)) for i in range(6)]
    for rows in ([*table], others, [*table[:3], *others[:3]]) * 3:
        expected = sum(np.asarray(row.to_numpy()) * (i + 1) for i, row in enumerate(rows))
        np.testing.assert_array_equal(f(*rows).to_numpy(), expected)
    assert f.cache_info().graphs == 3


@pytest.mark.parametrize(
    "value",
    [(), [], {}, None, 3, "text", ([],), {"a": {}, 1: ()}, Pair(1, (2,)), [[1.5, True], {None: b"x"}], Row([1])],
    ids=repr,
)
def test_flattened_constants_are_restored(value):
    arrays, structure = flatten(value)
    restored = unflatten(structure, [])
    assert arrays == [] and restored == value and type(restored) is type(value)
    assert structure == flatten(restored)[1]


def test_flattened_arrays_are_restored_in_their_order(be):
    x, y, z = be.ones(1), be.ones(2), be.ones(3)
    arrays, structure = flatten({"b": (z, [x]), "a": Pair(y, 4)})
    assert [a.size for a in arrays] == [3, 1, 2]
    assert unflatten(structure, ["first", "second", "third"]) == {"b": ("first", ["second"]), "a": Pair("third", 4)}


@pytest.mark.parametrize(
    "made", [OrderedDict(a=1), defaultdict(list, a=1), Settings(a=1)], ids=lambda x: type(x).__name__
)
def test_a_class_of_dict_is_restored_as_a_dict(made):
    restored = unflatten(flatten(made)[1], [])
    assert restored == {"a": 1} and type(restored) is dict
