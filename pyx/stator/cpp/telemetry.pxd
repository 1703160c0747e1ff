# stator/telemetry/telemetry.hpp
from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool

from stator.cpp.backend cimport Backend
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport string, vector


cdef extern from "stator/telemetry/telemetry.hpp" namespace "stator" nogil:
    cdef cppclass TelemetryOptions:
        cbool count, device_time, nvtx

    cdef cppclass OpTelemetry:
        string op
        uint64_t calls, dispatches, untimed_dispatches, launches, library_calls, graph_launches, copies, fills
        uint64_t allocations, synchronisations, h2d_bytes, d2h_bytes, d2d_bytes, thread_slots
        int64_t idle_thread_slots
        double wall_seconds, longest_wall_seconds, device_seconds, longest_device_seconds

    cdef cppclass TraceRange:
        string op
        int64_t thread
        double begin, end
        int stream
        double device_begin, device_end

    ctypedef enum WaitReports:
        no_reports "stator::WaitReports::none"

    void set_telemetry(const Backend&, const TelemetryOptions&) except +translate_exception
    TelemetryOptions telemetry_options(const Backend&) except +translate_exception
    vector[OpTelemetry] telemetry(const Backend&) except +translate_exception
    void reset_telemetry(const Backend&) except +translate_exception
    void begin_trace(const Backend&) except +translate_exception
    vector[TraceRange] end_trace(const Backend&, uint64_t*) except +translate_exception
    WaitReports report_waits(const Backend&, WaitReports) except +translate_exception
