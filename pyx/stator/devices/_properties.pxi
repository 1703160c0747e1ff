# What the runtime says of a backend's device. Included by _backend.pyx.

def device_properties(backend: Backend) -> dict[str, Any]:
    """Name, compute capability, memory, driver and runtime versions, and multiprocessors of the backend's device."""
    cdef Backend owner = as_backend(backend, "Backend.devices.properties")
    cdef cpp.DeviceInfo info
    with nogil:
        info = owner.c.info()
    return {
        "name": decoded(info.name),
        "compute_capability": (info.compute_major, info.compute_minor),
        "total_memory": info.total_memory,
        "driver_version": info.driver_version,
        "runtime_version": info.runtime_version,
        "multiprocessors": info.multiprocessors,
    }
