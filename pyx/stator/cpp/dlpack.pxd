# The exchanged structures of DLPack 1.0 (dmlc/dlpack, include/dlpack/dlpack.h).
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t


cdef extern from *:
    """
    #include <stdint.h>
    namespace dlpack {
    struct Version { uint32_t major, minor; };
    struct Device { int32_t type, index; };
    struct DataType { uint8_t code, bits; uint16_t lanes; };
    struct Tensor {
      void* data;
      Device device;
      int32_t ndim;
      DataType dtype;
      int64_t *shape, *strides;
      uint64_t byte_offset;
    };
    struct Managed { Tensor tensor; void* context; void (*deleter)(Managed*); };
    struct ManagedVersioned {
      Version version;
      void* context;
      void (*deleter)(ManagedVersioned*);
      uint64_t flags;
      Tensor tensor;
    };
    }
    """

cdef extern from * namespace "dlpack" nogil:
    cdef struct Version:
        uint32_t major, minor
    cdef struct Device:
        int32_t type, index
    cdef struct DataType:
        uint8_t code, bits
        uint16_t lanes
    cdef struct Tensor:
        void* data
        Device device
        int32_t ndim
        DataType dtype
        int64_t* shape
        int64_t* strides
        uint64_t byte_offset
    cdef struct Managed:
        Tensor tensor
        void* context
        void (*deleter)(Managed*) noexcept
    cdef struct ManagedVersioned:
        Version version
        void* context
        void (*deleter)(ManagedVersioned*) noexcept
        uint64_t flags
        Tensor tensor

cdef enum:
    CPU = 1
    CUDA = 2
    CUDA_HOST = 3
    CUDA_MANAGED = 13

cdef enum:
    READ_ONLY = 1
    COPIED = 2
