"""BackendConfig: where values come from, and that every value that cannot be used is named at once."""

import dataclasses
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import stator
from stator import BackendBuilder
from stator.config import BackendConfig, Options
from stator.config._fields import FIELDS
from stator.config._sources import misspelt
from stator.errors import ConfigurationError, DTypeError, InvalidValueError

ROOT = Path(__file__).resolve().parents[2]
# A value of each field that is not its default, and the text that stands for it.
VALUES = {
    "device": ("cuda:3", "cuda:3"),
    "allow_tf32": (True, "true"),
    "deterministic": (True, "1"),
    "check_indices": ("eager", "eager"),
    "memory_limit": (2**30, "1 GiB"),
    "memory_pool_size": (4096, "4KiB"),
    "pinned_memory_limit": (2**21, "2 MiB"),
    "pool_policy": ("none", "none"),
    "stream_pool_size": (3, "3"),
    "profiling": (True, "TRUE"),
    "blas_workspace_size": (2**20, "1mib"),
    "jit_cache_path": ("cache", "cache"),
    "jit_cache_size": (2**32, "4 GiB"),
    "require_libraries": (True, "1"),
}
BAD = {
    "device": ("gpu", "cuda:-1", ""),
    "allow_tf32": ("yes", 2, 0.5, -1),
    "check_indices": ("often", 1),
    "memory_limit": (0, -1, 2**63, 10**4000, 0.5, True, "1 GB", "-1", "0", "1e3", ""),
    "memory_pool_size": (0, -(2**63), 2**63),
    "pinned_memory_limit": (0, -1, 2**63),
    "pool_policy": ("buddy", None.__class__),
    "stream_pool_size": (0, -1, 32, 2**63, 4.0, True, "many"),
    "blas_workspace_size": (0, -1, 2**63),
    "jit_cache_path": ("", 5, b"bytes", "a\0b"),
    "jit_cache_size": (0, -1, 2**32 + 1, 2**63),
}


@pytest.fixture(autouse=True)
def _without_variables(monkeypatch):
    for name in ("STATOR_CONFIG", *(field.variable for field in FIELDS.values())):
        monkeypatch.delenv(name, raising=False)


def fields_of(error):
    return [problem.field for problem in error.value.problems]


def test_every_field_is_an_option_of_the_backend_and_a_keyword():
    names = [field.name for field in dataclasses.fields(BackendConfig)]
    assert names == list(FIELDS) == list(VALUES) == ["device", *Options.__annotations__]
    with stator.Backend("cpu") as be:
        assert {"device", *be.options} == set(names)
        assert be.config == BackendConfig.default_config().merge(BackendConfig("cpu"))


def test_values_pass_through_every_form():
    config = BackendConfig(**{name: value for name, (value, _) in VALUES.items()})
    assert BackendConfig.from_properties({name: text for name, (_, text) in VALUES.items()}) == config
    assert BackendConfig.from_environment({FIELDS[n].variable: text for n, (_, text) in VALUES.items()}) == config
    assert BackendConfig.from_dict(config.to_dict()) == config
    assert BackendConfig.from_properties(config.as_properties()) == config
    assert pickle.loads(pickle.dumps(config)) == config
    assert config.backend_type == "cuda"
    assert BackendConfig().to_dict() == {}
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.memory_limit = 1


@pytest.mark.parametrize("name", BAD)
def test_a_value_that_cannot_be_used_is_refused_with_its_rule(name):
    for value in BAD[name]:
        for call in (BackendConfig, stator.Backend):
            with pytest.raises(ConfigurationError) as caught:
                call(**{name: value})
            (problem,) = caught.value.problems
            assert problem.field == name
            assert problem.rule in str(caught.value)
            assert problem.remedy in str(caught.value)
            assert len(str(caught.value)) < 400


def test_all_wrong_values_of_all_sources_are_named_at_once(monkeypatch, tmp_path):
    file = tmp_path / "stator.toml"
    file.write_text("[backend]\nstream_pool_size = 99\nprofilng = true\ncheck_indices = 'never'\n")
    monkeypatch.setenv("STATOR_CONFIG", str(file))
    monkeypatch.setenv("STATOR_PROFILING", "perhaps")
    monkeypatch.setenv("STATOR_MEMORY_LIMT", "1")
    with pytest.raises(ConfigurationError) as caught:
        stator.Backend("cpu", memory_limit=0, blas_workspace_size=-1, check_indices="eager")
    found = {(p.field, p.source) for p in caught.value.problems}
    assert found == {
        ("memory_limit", ""),
        ("blas_workspace_size", ""),
        ("profiling", "STATOR_PROFILING"),
        ("STATOR_MEMORY_LIMT", "STATOR_MEMORY_LIMT"),
        ("stream_pool_size", str(file)),
        ("profilng", str(file)),
    }
    text = str(caught.value)
    assert text.startswith("Backend: 6 values cannot be used: ")
    assert "STATOR_PROFILING=perhaps" in text
    assert "Did you mean STATOR_MEMORY_LIMIT?" in text
    assert f"stream_pool_size=99 in {file}" in text
    assert isinstance(caught.value, InvalidValueError)
    assert isinstance(caught.value, DTypeError)
    assert fields_of(caught) == [p.field for p in pickle.loads(pickle.dumps(caught.value)).problems]


def test_names_that_no_field_has_come_with_the_nearest_one():
    for make in (BackendConfig.from_dict, BackendConfig.from_properties):
        with pytest.raises(ConfigurationError, match="Did you mean pool_policy") as caught:
            make({"pool_polcy": "none", "memory_limit": "0"})
        assert fields_of(caught) == ["pool_polcy", "memory_limit"]
    with pytest.raises(ConfigurationError, match="Did you mean allow_tf32") as caught:
        stator.Backend("cpu", alow_tf32=True, memory_limit=0)
    assert fields_of(caught) == ["alow_tf32", "memory_limit"]
    with pytest.raises(ConfigurationError, match="Known are device, "):
        BackendBuilder().with_options(zzz=1)


def test_variables_of_other_parts_are_not_taken_for_misspelt_ones():
    others = "CHECK SYNC EMULATE EMULATE_RECORD EMULATOR_ISA HOST_MODE HOST_ISA OPENBLAS REQUIRE_DEVICE UNITS CUDA"
    assert misspelt(dict.fromkeys([f"STATOR_{name}" for name in others.split()] + ["STATOR_CONFIG"], "1")) == []
    assert [p.field for p in misspelt({"STATOR_DEVICES": "cpu"})] == ["STATOR_DEVICES"]


def test_the_reservation_is_within_the_limit():
    with pytest.raises(ConfigurationError, match="what is reserved counts too"):
        BackendConfig(memory_limit=10, memory_pool_size=11)
    with pytest.raises(ConfigurationError, match=r"^Backend: 2 values") as caught:
        stator.Backend("cpu", config=BackendConfig(memory_limit=10), memory_pool_size=11, stream_pool_size=0)
    assert fields_of(caught) == ["stream_pool_size", "memory_pool_size"]


def test_an_arena_without_a_size_is_one_of_the_problems():
    with pytest.raises(ConfigurationError) as caught:
        stator.Backend("cpu", config=BackendConfig(pool_policy="arena"), stream_pool_size=0)
    assert fields_of(caught) == ["stream_pool_size", "pool_policy"]
    with pytest.raises(ConfigurationError) as caught:
        stator.Backend("cpu", pool_policy="arena", memory_pool_size=0)
    assert fields_of(caught) == ["memory_pool_size"]
    with stator.Backend("cpu", config=BackendConfig(pool_policy="arena"), memory_pool_size=4096) as be:
        assert be.config.pool_policy == "arena"


def test_each_source_holds_over_those_below_it(monkeypatch, tmp_path):
    def limit(*given, **keywords):
        with stator.Backend("cpu", *given, **keywords) as be:
            return be.options["memory_limit"]

    assert limit() is None
    file = tmp_path / "stator.toml"
    file.write_text("[backend]\nmemory_limit = 4\n[other]\nanything = 1\n")
    monkeypatch.setenv("STATOR_CONFIG", str(file))
    assert limit() == 4
    monkeypatch.setenv("STATOR_MEMORY_LIMIT", "")
    assert limit() == 4
    monkeypatch.setenv("STATOR_MEMORY_LIMIT", "3")
    assert limit() == 3
    assert limit(config=BackendConfig(profiling=True)) == 3
    assert limit(config=BackendConfig(memory_limit=2)) == 2
    assert limit(config=BackendConfig(memory_limit=2), memory_limit=1) == 1
    monkeypatch.setenv("STATOR_MEMORY_LIMIT", "nonsense")  # not read, since a source above it decides
    assert limit(memory_limit=1) == 1


def test_the_device_comes_from_the_sources_too(monkeypatch, tmp_path):
    monkeypatch.setenv("STATOR_DEVICE", "cuda:99")
    with pytest.raises(stator.errors.DeviceUnavailableError):
        stator.Backend()
    with stator.Backend("cpu") as be:
        assert be.device == "cpu"
    monkeypatch.delenv("STATOR_DEVICE")
    file = tmp_path / "stator.toml"
    file.write_text("[backend]\ndevice = 'cuda:99'\n")
    monkeypatch.setenv("STATOR_CONFIG", str(file))
    monkeypatch.setattr(stator.backend, "_found", ("", None))
    with pytest.raises(stator.errors.DeviceUnavailableError):
        stator.default_backend()


@pytest.mark.parametrize("text", [None, "[backend", "memory_limit = 1\n", "backend = 3\n", "a = " + 5000 * "["])
def test_a_file_that_cannot_be_read_is_named(monkeypatch, tmp_path, text):
    file = tmp_path / "stator.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(ConfigurationError, match=r"stator\.toml"):
        BackendConfig.from_toml(file)
    monkeypatch.setenv("STATOR_CONFIG", str(file))
    with pytest.raises(ConfigurationError, match=r"STATOR_CONFIG=.*stator\.toml") as caught:
        stator.Backend("cpu", memory_limit=0)
    assert set(fields_of(caught)) == {"STATOR_CONFIG", "memory_limit"}


def test_the_builder_collects_and_opens():
    builder = stator.BackendBuilder()
    assert builder.with_config(BackendConfig("cpu", stream_pool_size=2)) is builder
    with builder.with_options(stream_pool_size=3).build() as be:
        assert len(be.streams) == len(tuple(be.streams)) == 3
    assert builder.config == BackendConfig("cpu", stream_pool_size=3)
    for wrong in (lambda: builder.with_config({}), lambda: builder.config.merge(None)):
        with pytest.raises(DTypeError):
            wrong()
    with pytest.raises(ConfigurationError, match=r"Give a stator\.BackendConfig"):
        stator.Backend("cpu", config={"memory_limit": 1})


def test_a_backend_opens_where_no_module_can_be_imported_any_more():
    code = "import sys, stator; sys.meta_path[:] = []; print(stator.Backend('cpu', memory_limit=9).options)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "'memory_limit': 9" in done.stdout, done.stderr
