# What is fused into a normalisation: a residual that is added before it, and an activation after it.


# The name of an activation, which must outlive the options.
cdef bytes text_of(object activation, str op):
    return b"" if activation is None else to_text(activation, op, "activation")


cdef int set_fused(norm.FusedNormOptions& o, str op, object residual, bytes text) except -1:
    o.residual = as_out(residual, op, "residual")
    o.activation = string_view(<const char*>text, len(text))
    return 0
