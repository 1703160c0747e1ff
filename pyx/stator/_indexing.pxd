from stator._array cimport Array

# compress of Arrays.
cdef Array compressed(Array condition, Array x, object axis)
