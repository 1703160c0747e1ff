"""Special functions, named as in scipy.special and torch.special."""

from typing import TYPE_CHECKING

from stator._namespace import made

if TYPE_CHECKING:
    from stator._made_special import *  # noqa: F403
else:
    globals().update(made("special."))

__all__ = list(made("special."))
