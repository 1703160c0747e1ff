# stator/devices/device.hpp
from libc.stdint cimport int64_t

from stator.cpp.backend cimport Device, DeviceInfo
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport pair, string, vector


cdef extern from "stator/devices/device.hpp" namespace "stator" nogil:
    cdef cppclass DeviceReport:
        DeviceInfo info
        vector[pair[string, int64_t]] attributes

    DeviceReport device_report(const Device&) except +translate_exception
    double host_read_latency(size_t) except +translate_exception
