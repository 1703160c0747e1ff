"""The proofs of `demo --prove` on the demo's training step, with data that does not need scikit-learn."""

import numpy as np
import pytest

from stator import Backend, __main__, nn, prove
from stator.demo import Digits, Hyperparameters
from stator.errors import StatorError

CONFIG = Hyperparameters(hidden=16, batch=32)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    images = rng.random((96, 24), dtype=np.float32)
    labels = rng.integers(0, 10, 96)
    return Digits(images, labels, images[:8], labels[:8], 10)


def quiet(what, count):
    pass


@pytest.mark.parametrize("until_lifted", [False, True], ids=["once", "until_lifted"])
def test_every_failing_call_is_typed_leaks_nothing_and_the_next_step_is_exact(device, data, until_lifted):
    with Backend(device) as be:
        result = prove.fail_every_call(prove.FirstStep(be, data, CONFIG), until_lifted, quiet)
    assert result.calls > 20
    assert result.raised > 15
    assert result.swallowed == 0
    assert result.leaked_bytes == 0
    assert result.wrong_next_steps == 0


def test_permuted_blocks_give_the_same_bits(data):
    result = prove.permute_blocks(data, CONFIG, 3, quiet)
    assert (result.target, result.orders, result.different) == ("host_checked", 3, 0)


def test_a_deleted_wait_is_caught(data):
    result = prove.delete_waits(data, CONFIG, quiet)
    assert result.waits >= 1
    assert result.caught == result.waits
    assert result.false_alarms == 0


def test_a_swallowed_failure_is_not_proved(data, monkeypatch, capsys):
    honest = nn.adam_step

    def swallows(*arguments, **options):
        try:
            return honest(*arguments, **options)
        except StatorError:
            return None

    monkeypatch.setattr(nn, "adam_step", swallows)
    monkeypatch.setattr(Digits, "load", lambda seed: data)
    monkeypatch.setattr("stator.demo.Hyperparameters", lambda: Hyperparameters(hidden=16, batch=32, epochs=1))
    monkeypatch.setattr("stator.prove.Hyperparameters", lambda: CONFIG)
    assert __main__.main(["demo", "--device", "cpu", "--prove"]) == 1
    out = capsys.readouterr().out
    assert "proved: False" in out
    for claim in prove.CLAIMS.values():
        assert claim in out


def test_every_table_of_the_proof_says_what_it_proves(data, monkeypatch):
    monkeypatch.setattr(Digits, "load", lambda seed: data)
    result = prove.run("cpu", quiet, CONFIG, orders=1)
    assert result["proved"]
    assert [name for name, value in result.items() if isinstance(value, dict)] == list(prove.CLAIMS)
    assert all(claim.endswith(".") for claim in prove.CLAIMS.values())
