from stator._array cimport Array

# clip of an Array.
cdef Array between(Array x, object low, object high, object out)
