"""A builder of backends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stator.backend import Backend
from stator.config._config import BackendConfig
from stator.errors import ConfigurationError, DTypeError, renamed

if TYPE_CHECKING:
    from typing import Self


class BackendBuilder:
    """Collects a configuration, and opens backends with it.

    >>> builder = stator.BackendBuilder().with_options(device="cpu").with_options(profiling=True)
    >>> with builder.build() as be:
    ...     be.telemetry.enabled
    True
    """

    def __init__(self) -> None:
        self._config = BackendConfig()

    @property
    def config(self) -> BackendConfig:
        """What was collected until now. It is frozen: with_options() changes fields."""
        return self._config

    def with_config(self, config: BackendConfig, /) -> Self:
        """Takes a configuration in the place of what was collected."""
        if not isinstance(config, BackendConfig):
            raise DTypeError(
                f"Got config of type {type(config).__name__}",
                op="BackendBuilder.with_config",
                remedy="Give a BackendConfig.",
            )
        self._config = config
        return self

    def with_options(self, **fields: Any) -> Self:
        """Sets fields of BackendConfig by name. ConfigurationError for what cannot be used, names among it."""
        try:
            self._config = self._config.merge(BackendConfig.from_dict(fields))
        except ConfigurationError as error:
            raise renamed(error, "BackendBuilder.with_options") from None
        return self

    def build(self) -> Backend:
        """Opens a backend with the configuration, as Backend(config=...) does."""
        return Backend(config=self._config)

    def __repr__(self) -> str:
        return f"<stator.BackendBuilder of {self._config.to_dict()}>"
