"""What a backend is opened with: BackendConfig, and where its values come from.

It is loaded with stator, and small. A backend must open also where no file can be opened any more, so that what its
configuration needs is there before.
"""

from stator.config._config import BackendConfig, Options
from stator.config._problems import Problem
from stator.config._sources import default_device, origins, resolve

__all__ = ["BackendConfig", "Options", "Problem", "default_device", "origins", "resolve"]


def __dir__() -> list[str]:
    return [*__all__]
