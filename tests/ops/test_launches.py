"""The op table's launches equal the counters, for contiguous and transposed operands; no byte goes to the host."""

import calls
import pytest
from cases import TABLE

# On cuda cuBLASLt needs one call where the host needs two or three, and cuFFT needs further passes for conjugates,
# kept inputs and scales.
LIBRARIES_DECIDE = (
    *("addmm", "baddbmm", "linear"),
    *("irfft", "irfft2", "irfftn", "hfft", "ihfft", "fftconvolve", "istft"),
)
# cuSPARSE may lack resources for it, as its double does now and then, and kernels of stator then multiply.
DECLINED = ("spgemm",)


def work(be):
    s = be.statistics()
    return s["kernel_launches"] + s["library_calls"]


@pytest.mark.parametrize("name", [n for n, row in TABLE.items() if row["shape_class"] != "method"])
def test_launches_are_as_stated_and_nothing_reaches_the_host(be, name):
    target = "host" if be.device.type == "cpu" else "cuda"
    if target == "cuda" and name in LIBRARIES_DECIDE:
        return
    for call in calls.both(be, name):
        if call is None:
            continue
        for _ in range(8 if name in DECLINED else 1):
            before, moved = work(be), be.statistics()["d2h_bytes"]
            call()
            done = work(be) - before
            if done == TABLE[name]["launches"][target]:
                break
        assert done == TABLE[name]["launches"][target]
        # Ops that synchronise read one number, the size of their result, or a flag of each of three matrices.
        most = {"async": 0, "sync": 12 if TABLE[name]["family"] == "linalg" else 8}[TABLE[name]["sync"]]
        assert be.statistics()["d2h_bytes"] - moved <= most
