# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""What devices say of themselves before they are opened."""
from stator._convert cimport to_int
from stator.cpp cimport backend
from stator.cpp cimport device as cpp
from stator.cpp.std cimport decoded


def device_report(kind: str, index: int) -> dict[str, Any]:
    """What a device says of itself: name, versions, bytes of memory, and attributes by name. Creates no context.

    DeviceUnavailableError where there is no such device.
    """
    cdef backend.Device device
    cdef cpp.DeviceReport found
    cdef size_t i
    device.type = backend.cuda if kind == "cuda" else backend.cpu
    device.index = <int>min(max(to_int(index, "device_report", "index"), -1), 2**31 - 1)
    with nogil:
        found = cpp.device_report(device)
    return {
        "name": decoded(found.info.name),
        "compute_capability": (found.info.compute_major, found.info.compute_minor),
        "total_memory": found.info.total_memory,
        "driver_version": found.info.driver_version,
        "runtime_version": found.info.runtime_version,
        "attributes": {decoded(found.attributes[i].first): found.attributes[i].second
                       for i in range(found.attributes.size())},
    }


def host_read_latency(size: int) -> float:
    """Nanoseconds of a read of the host that waits for the one before it, in `size` bytes; 0 without the memory."""
    cdef size_t count = <size_t>max(to_int(size, "host_read_latency", "size"), 0)
    cdef double out
    with nogil:
        out = cpp.host_read_latency(count)
    return out
