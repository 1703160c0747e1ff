"""Copies of bytes between arrays and the host, which methods of Array and Backend make."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return [*__all__]
