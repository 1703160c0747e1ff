"""Special functions, named as in scipy.special and torch.special."""

from typing import TYPE_CHECKING

from stator._namespace import missing, table_functions

if TYPE_CHECKING:
    from stator._table_functions_special import *  # noqa: F403
else:
    globals().update(table_functions("special."))

__all__ = list(table_functions("special."))


def __dir__() -> list[str]:
    return [*__all__]


if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
