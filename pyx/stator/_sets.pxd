from stator._array cimport Array

# searchsorted of an Array.
cdef Array search(Array boundaries, object x2, object side, object sorter)
