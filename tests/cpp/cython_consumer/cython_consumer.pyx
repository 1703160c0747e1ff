# cython: language_level=3
"""Another project's module that reads stator's C++ objects from Python's."""

from stator cimport Array, Backend


def size(Array x):
    return x.c.size()


def live(Backend backend):
    return backend.c.resources().size()
