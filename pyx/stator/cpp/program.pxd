# stator/programs/program.hpp
from libc.stdint cimport uint32_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Backend, Stream
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport string, vector


cdef extern from "stator/programs/program.hpp" namespace "stator" nogil:
    ctypedef enum ParameterKind "stator::KernelParameter::Kind":
        of_bytes "stator::KernelParameter::Kind::bytes"
        of_integer "stator::KernelParameter::Kind::integer"
        of_floating "stator::KernelParameter::Kind::floating"
        of_pointer "stator::KernelParameter::Kind::pointer"

    cdef cppclass KernelParameter:
        size_t offset, size
        ParameterKind kind
        string type

    cdef cppclass KernelAttributes:
        int registers, max_threads
        size_t shared_bytes, max_dynamic_shared_bytes, local_bytes

    cdef cppclass LaunchConfig:
        LaunchConfig()
        uint32_t* grid "grid.data"()
        uint32_t* block "block.data"()
        size_t shared_bytes
        cbool cooperative

    cdef cppclass KernelArgument:
        KernelArgument()
        const Array* array
        const void* value
        size_t size

    cdef cppclass ArgumentSpan "std::span<const stator::KernelArgument>":
        ArgumentSpan(const KernelArgument*, size_t)

    cdef cppclass NameSpan "std::span<const std::string>":
        NameSpan(const string*, size_t)

    cdef cppclass Kernel:
        Kernel()
        const vector[KernelParameter]& parameters() except +translate_exception
        const KernelAttributes& attributes() except +translate_exception
        int resident_blocks(int, size_t) except +translate_exception
        int suggested_threads(size_t) except +translate_exception
        void check(const LaunchConfig&, ArgumentSpan) except +translate_exception
        void launch(const LaunchConfig&, ArgumentSpan, const Stream&) except +translate_exception
        void refuse(size_t, const string&, const string&) except +translate_exception

    cdef cppclass CompiledCode:
        string ptx, machine_code, log
        vector[string] names, symbols

    CompiledCode compile_code(const string&, NameSpan, int, NameSpan, const string&) except +translate_exception

    string compiler_version() except +translate_exception
    int program_architecture(const Backend&) except +translate_exception

    cdef cppclass Program:
        Program()
        Kernel kernel(size_t) except +translate_exception
        size_t size()
        const string& log()

    cbool has_cooperative_launch(const Backend&) except +translate_exception
    Program load_program "stator::Program::load"(const Backend&, const string&, NameSpan) except +translate_exception
    Program load_compiled "stator::Program::load"(const Backend&, const CompiledCode&) except +translate_exception
