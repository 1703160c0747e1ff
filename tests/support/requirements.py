"""What tests need that not every build or machine has."""

import pytest

from stator import _backend

cuda_target = pytest.mark.skipif(
    "built without CUDA" in _backend.available("cuda")[1], reason="this build has no cuda target to emulate"
)
