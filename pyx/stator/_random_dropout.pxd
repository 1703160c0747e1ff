from stator._backend cimport Backend
from stator._random cimport Generator
from stator.cpp.random cimport State


# The generator that an argument `rng` names, None being the backend's; or no generator, and `state` is set, for a seed
# or a state.
cdef Generator to_source(object rng, State* state, Backend backend, str op)
# Around the call that draws: the generator, if there is one, is locked, `state` is its state, and it gets `after`,
# which is the state after the draws. For null it keeps its own.
cdef int begin_draws(Generator generator, State* state) except -1
cdef int end_draws(Generator generator, const State* after) except -1
