"""Every name of stator.hardware, and every method of a backend about devices, is documented in a sentence."""

import inspect

from stator import hardware
from stator.hardware._accessor import DeviceAccessor

OBJECTS = {
    **{f"hardware.{name}": getattr(hardware, name) for name in hardware.__all__},
    **{f"Backend.devices.{name}": value for name, value in vars(DeviceAccessor).items() if not name.startswith("_")},
}


def test_every_name_is_documented_in_a_sentence():
    first = {name: (inspect.getdoc(found) or "").partition("\n")[0] for name, found in OBJECTS.items()}
    assert not {name: line for name, line in first.items() if len(line) > 100 or not line.endswith((".", ":"))}
