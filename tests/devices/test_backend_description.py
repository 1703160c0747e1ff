"""What an open backend says of its device, hints and ops."""

from dataclasses import replace

import pytest

import stator
from stator import _table, errors, hardware
from stator.backends.traits import adapt
from stator.hardware import BackendType, hints, measure, operations, tables


def test_a_backend_says_what_the_enumeration_says(be):
    own = be.devices.info()
    same = next(each for each in stator.devices() if each.device == be.device_name)
    assert replace(own, memory_free=None) == replace(same, memory_free=None)
    assert own.memory_total == be.devices.properties()["total_memory"]
    assert adapt(be).backend_type() is own.type
    assert replace(adapt(be).default_device(), memory_free=None) == replace(own, memory_free=None)
    assert adapt(be).is_available()


def test_a_backend_knows_the_devices_of_its_type(be):
    assert adapt(be).device_count() == len(adapt(be).devices()) > be.device.index
    assert {each.type for each in adapt(be).devices()} == {adapt(be).backend_type()}
    assert adapt(be).is_device_available(be.device.index)
    assert not adapt(be).is_device_available(99)


def test_the_name_is_that_of_the_device(be):
    assert adapt(be).name == be.device_name == str(be.device)
    assert be.device_name in repr(adapt(be))


def test_a_device_is_opened_by_its_index(be):
    with adapt(be).create_device(be.device.index) as other:
        assert other is not be and other.device == be.device
        assert other.ones(2).tolist() == [1, 1]
    for index in (99, -1):
        with pytest.raises(errors.DeviceUnavailableError, match=r"^BackendAdapter\.create_device: .*does not exist"):
            adapt(be).create_device(index)
    with pytest.raises(errors.DTypeError, match=r"^BackendAdapter\.create_device: Got index of type float"):
        adapt(be).create_device(0.5)


def test_no_array_is_larger_than_the_largest_buffer(be):
    largest = be.devices.capabilities().max_buffer_size
    assert largest == be.devices.properties()["total_memory"]
    with pytest.raises(errors.OutOfMemoryError):
        be.empty(largest + 1, dtype="uint8")


def test_every_precision_mode_says_what_it_means(be):
    modes = {str(mode): mode.meaning for mode in be.devices.capabilities().precision_modes}
    assert {"F16", "F32", "F64", "Mixed", "Custom(8)", "Custom(4)"} <= set(modes)
    assert "float32" in modes["Mixed"]
    assert ("Custom(19)" in modes) == (be.device.type == "cuda")
    assert all(modes.values())


def test_limits_are_those_that_calls_have(be):
    caps = be.devices.capabilities()
    be.zeros((1,) * caps.max_tensor_dims)
    with pytest.raises(errors.ShapeError):
        be.zeros((1,) * (caps.max_tensor_dims + 1))
    assert len(be.streams) <= caps.execution_model.max_concurrent_streams
    assert (
        set(caps.supported_dtypes) == {dtype.name for dtype in stator.all_dtypes}
        if hasattr(stator, "all_dtypes")
        else True
    )
    assert be.programs.supports_cooperative() == caps.cooperative_launch


def test_features_follow_from_the_capabilities(be):
    caps = be.devices.capabilities()
    names = {feature.value for feature in caps.hardware_features}
    on_cuda = be.device.type == "cuda"
    assert ("SharedMemory" in names) == ("ConstantMemory" in names) == on_cuda
    assert ("VectorUnits" in names) == bool(caps.simd_bits)
    assert caps.extended_capabilities.hardware_features == caps.hardware_features
    assert caps.extended_capabilities.memory_hierarchy is caps.memory_hierarchy


def test_hints_follow_from_the_capabilities(be):
    caps = be.devices.capabilities()
    found = be.devices.performance_hints()
    assert found == hints.derive(caps)
    if be.device.type == "cpu":
        assert (found.preferred_workgroup_size, found.optimal_batch_size) == ((1, 1, 1), caps.cores)
        assert found.prefer_async == (caps.cores > 1)
    else:
        blocks = caps.max_threads_per_multiprocessor // found.preferred_workgroup_size[0]
        assert blocks <= caps.max_workgroups_per_multiprocessor
        assert found.optimal_batch_size == blocks * caps.multiprocessors


def test_hints_are_none_where_their_capabilities_are(be):
    unknown = replace(
        be.devices.capabilities(),
        warp_size=None,
        cores=None,
        simd_bits=None,
        memory_hierarchy=hardware.MemoryHierarchy(),
    )
    found = hints.derive(unknown)
    assert (found.optimal_batch_size, found.memory_alignment) == (None, None)


@pytest.mark.parametrize(("bits", "line", "wanted"), [(256, 64, 64), (512, 32, 64), (None, 64, 64), (256, None, 32)])
def test_the_alignment_on_the_host_is_the_larger_of_a_register_and_a_cache_line(cpu, bits, line, wanted):
    hierarchy = hardware.MemoryHierarchy(cache_line_size=line)
    caps = replace(cpu.devices.capabilities(), simd_bits=bits, memory_hierarchy=hierarchy)
    assert hints.derive(caps).memory_alignment == wanted


def test_a_peak_is_none_where_a_factor_is_not_known():
    assert tables.peak_gflops((9, 0), 132, 1980000, 2)["float32"] == pytest.approx(66908, rel=1e-3)
    assert set(tables.peak_gflops((99, 0), 132, 1980000, 2).values()) == {None}
    assert tables.peak_gflops((9, 0), None, 1980000, 2)["float16"] is None
    without_ratio = tables.peak_gflops((9, 0), 132, 1980000, None)
    assert without_ratio["float64"] is None
    assert without_ratio["float32"]
    assert tables.tensor_cores((7, 5)) is None


def test_the_memory_of_the_host_is_measured(cpu, monkeypatch):
    monkeypatch.setattr(measure, "_working_set", lambda caps: 4 << 20)
    before = cpu.devices.capabilities().memory_hierarchy
    assert (before.memory_latency_ns, before.measured_bandwidth_gbps, before.memory_bandwidth_per_core) == (None,) * 3
    after = cpu.devices.capabilities(measure=True)
    found = after.memory_hierarchy
    assert 0.1 < found.memory_latency_ns < 10_000
    assert 0.01 < found.memory_bandwidth_per_core < 10_000
    assert after.memory_bandwidth_gbps == found.measured_bandwidth_gbps > 0.01


def test_a_read_from_more_memory_takes_longer():
    from stator import _devices

    assert _devices.host_read_latency(8 << 10) < _devices.host_read_latency(64 << 20)
    assert _devices.host_read_latency(1 << 62) == 0


def test_an_emulated_device_has_no_time_to_measure(cuda):
    if not cuda.devices.capabilities().emulated:
        assert cuda.devices.measure().bandwidth_gbps > 1
    else:
        assert cuda.devices.measure() == hardware.Measurements()


def test_a_closed_backend_has_no_memory_to_measure(device):
    closed = stator.Backend(device)
    closed.close()
    for call in (closed.devices.measure, lambda: closed.devices.capabilities(measure=True)):
        with pytest.raises(errors.BackendClosedError, match=r"^Backend\.devices\.measure: "):
            call()
    assert closed.devices.capabilities().type is adapt(closed).backend_type()


def test_the_walk_of_the_latency_visits_every_node_once(cuda):
    count = 33
    ends = [measure.chase(cuda, count, reads)[0] for reads in range(1, count + 1)]
    assert sorted(ends) == list(range(count))
    assert ends[-1] == 0


def test_support_follows_from_the_op_table(be):
    for row in _table.rows()[::29]:
        for dtype in ("float32", "int8", "complex128"):
            assert be.devices.supports(row["name"], dtype) == (dtype in row["dtypes"]), row["name"]
        assert be.devices.supports(row["call"])


@pytest.mark.parametrize(
    ("op", "conditions", "wanted"),
    [
        ("softmax", {"axis": 0}, True),
        ("nn.softmax", {"colour": 0}, False),
        ("sort", {"capturable": True, "deterministic": True}, True),
        ("to_numpy", {"asynchronous": True}, False),
        ("csr_from_dense", {"capturable": True}, False),
        ("exp", {"bit_exact": True}, False),
        ("add", {"shape": (10, 10)}, True),
        ("add", {"shape": (1,) * 33}, False),
        ("add", {"shape": (2**50,)}, False),
    ],
)
def test_conditions_are_checked(be, op, conditions, wanted):
    assert be.devices.supports(op, **conditions) is wanted


def test_wrong_conditions_are_refused(be):
    with pytest.raises(errors.DTypeError, match=r"Backend\.devices\.supports"):
        be.devices.supports("add", "float7")
    with pytest.raises(errors.InvalidValueError, match=r"Got shape=\(-1,\)"):
        be.devices.supports("add", shape=(-1,))
    with pytest.raises(errors.DTypeError, match="shape"):
        be.devices.supports("add", shape="3")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("sub", "subtract"),
        ("mul", "multiply"),
        ("div", "divide"),
        ("sofmax", "softmax"),
        ("zzzz", r"one of Backend\.devices\.available_ops\(\)"),
        ("", "one of"),
    ],
)
def test_an_unknown_op_is_refused_with_the_nearest_ones(be, name, near):
    with pytest.raises(errors.InvalidValueError, match=rf"supports: There is no op '{name}'\. Name {near}"):
        be.devices.supports(name)
    with pytest.raises(errors.InvalidValueError, match="There is no op"):
        be.devices.supports(name, "float32", shape=(2,))
    assert not adapt(be).supports_op(name)


def test_a_library_that_nothing_replaces_takes_its_ops_away(be, monkeypatch):
    wanted = operations.LIBRARIES[be.device.type]
    absent = [{"name": name, "found": False, "substitute": ""} for name in wanted.values()]
    monkeypatch.setattr(operations._backend, "emulated", lambda kind: False)
    monkeypatch.setattr(operations._table, "libraries", lambda load: absent)
    assert not be.devices.supports("matmul")
    assert be.devices.operation_capabilities("matmul")["missing_library"] == wanted["matmul"]
    assert not adapt(be).supports_rnn()
    assert be.devices.supports("exp")
    assert adapt(be).supports_fft() is (be.device.type == "cpu")
    monkeypatch.setattr(operations._table, "libraries", lambda load: [{**each, "substitute": "own"} for each in absent])
    assert be.devices.supports("matmul")


def test_the_names_of_libraries_are_those_of_the_table():
    named = {name for families in operations.LIBRARIES.values() for name in families.values()}
    assert named <= {library["name"] for library in _table.libraries(False)}


def test_operation_capabilities_are_none_for_unknown_ops(be):
    found = be.devices.operation_capabilities("conv2d")
    assert found["family"] == "convolution"
    assert "stride" in found["parameters"]
    assert found["supported"]
    assert be.devices.operation_capabilities("no_such_op") is None


def test_every_op_of_the_table_is_available(be):
    assert list(be.devices.available_ops()) == [row["name"] for row in _table.rows()]
    assert adapt(be).supports_op("add") and adapt(be).supports_op("softmax")


def test_the_bundle_has_the_functions_of_five_groups(be):
    bundle = be.devices.operations()
    assert [group.name for group in bundle.groups()] == ["fft", "convolution", "rnn", "sparse", "quantization"]
    assert bundle.fft.rfft is stator.fft.rfft
    assert bundle.rnn.lstm is stator.nn.lstm
    assert "quantized_matmul" in bundle.quantization
    for group in bundle.groups():
        assert len(group) > 3
        assert group.supported
    with pytest.raises(AttributeError, match="the group fft has no function 'sort'"):
        bundle.fft.sort  # noqa: B018
    found = (
        adapt(be).supports_fft(),
        adapt(be).supports_convolution(),
        adapt(be).supports_rnn(),
        adapt(be).supports_sparse(),
    )
    assert (*found, adapt(be).supports_quantization()) == (True,) * 5
    single = (
        adapt(be).fft_ops(),
        adapt(be).convolution_ops(),
        adapt(be).rnn_ops(),
        adapt(be).sparse_ops(),
        adapt(be).quantization_ops(),
    )
    assert single == bundle.groups()


def test_types_are_read_from_names_and_devices(be):
    assert BackendType.parse(be.device) is adapt(be).backend_type()
    assert BackendType.parse("CUDA:3") is BackendType.CUDA
