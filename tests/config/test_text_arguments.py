"""Text that C cannot take: a NUL, and lone surrogates. Whatever takes text raises errors of stator, or takes it."""

import pytest

import stator
from stator.errors import InvalidValueError, StatorError

TEXTS = ["\0", "a\0b", "\ud800"]

PATHS = {
    "telemetry.profile": lambda be, x, path: be.telemetry.profile(path),
    "telemetry.enable_monitoring": lambda be, x, path: be.telemetry.enable_monitoring(snapshot=path),
    "memory.timeline": lambda be, x, path: be.memory.timeline(path),
    "graph.save": lambda be, x, path: be.graph(lambda x: x * 2).save(path, x),
    "graphs.load": lambda be, x, path: be.graphs.load(path),
    "jit_cache_path": lambda be, x, path: stator.BackendConfig(jit_cache_path=path),
    "from_toml": lambda be, x, path: stator.BackendConfig.from_toml(path),
}
SOURCE = 'extern "C" __global__ void f() {}'
NAMES = {
    "device": lambda be, x, text: stator.Backend(text),
    "is_available": lambda be, x, text: stator.is_available(text),
    "to_device": lambda be, x, text: x.to_device(text),
    "stream": lambda be, x, text: be.stream(text),
    "scope": lambda be, x, text: be.scoped(name=text).__enter__().__exit__(None, None, None),
    "dtype": lambda be, x, text: be.ones(3, dtype=text),
    "format": lambda be, x, text: be.asarray(text),
    "advice": lambda be, x, text: be.memory.advise(x, text),
    "prepare": lambda be, x, text: be.graphs.prepare([text]),
    "sync_debug": lambda be, x, text: be.telemetry.sync_debug(text),
    "einsum": lambda be, x, text: stator.einsum(text, x),
    "pad": lambda be, x, text: stator.pad(x, 1, mode=text),
    "fft": lambda be, x, text: stator.fft.fft(x, norm=text),
    "pool_policy": lambda be, x, text: stator.BackendConfig(pool_policy=text),
    "source": lambda be, x, text: be.compile(f"{SOURCE} // {text}", "f"),
    "kernel": lambda be, x, text: be.compile(SOURCE, text),
    "option": lambda be, x, text: be.compile(SOURCE, "f", [text]),
    "ptx": lambda be, x, text: be.compile(f".version 8.0\n// {text}", "f"),
    "kernel in ptx": lambda be, x, text: be.compile(".version 8.0\n", text),
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", PATHS)
def test_a_path_that_no_file_has_is_a_wrong_value(be, name, text):
    with pytest.raises(InvalidValueError):
        PATHS[name](be, be.ones(3), text)


def test_the_error_shows_the_path(be):
    with pytest.raises(InvalidValueError, match=r"profile: Got path='a\\x00', but a path must have no NUL"):
        be.telemetry.profile("a\0")


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_taken_or_an_error_of_stator(be, name, text):
    try:
        NAMES[name](be, be.ones(3), text)
    except StatorError as error:
        assert error.cause and error.op
