"""Injected failures, for the tests of stator and of software that uses it."""

from stator._testing import fault_next_launch, hold_warnings, inject, leak_buffer, lift, outstanding, set_block_seed

__all__ = ["fault_next_launch", "hold_warnings", "inject", "leak_buffer", "lift", "outstanding", "set_block_seed"]


def __dir__() -> list[str]:
    return [*__all__]
