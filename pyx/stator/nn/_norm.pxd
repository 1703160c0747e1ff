from stator.cpp cimport norm


# The name of an activation, which must outlive the options.
cdef bytes text_of(object activation, str op)
cdef int set_fused(norm.FusedNormOptions& o, str op, object residual, bytes text) except -1
