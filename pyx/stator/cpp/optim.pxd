# stator/nn/optim.hpp
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array, Operand
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport vector


cdef extern from "stator/nn/optim.hpp" namespace "stator::nn" nogil:
    cdef cppclass StepOptions:
        Operand lr, grad_scale, grad_factor
        double weight_decay
        cbool maximize
        const vector[Array]* masters
        const Array* found_inf

    cdef cppclass SgdOptions(StepOptions):
        double momentum, dampening
        cbool nesterov
        Operand step

    cdef cppclass RmspropOptions(StepOptions):
        double alpha, eps, momentum

    cdef cppclass AdagradOptions(StepOptions):
        double lr_decay, eps

    cdef cppclass AdamOptions(StepOptions):
        double beta1, beta2, eps
        cbool decoupled

    cdef cppclass LionOptions(StepOptions):
        double beta1, beta2

    void sgd_step(const vector[Array]&, const vector[Array]&, const vector[Array]*, const SgdOptions&,
                  const Stream&) except +translate_exception
    void rmsprop_step(const vector[Array]&, const vector[Array]&, const vector[Array]&, const vector[Array]*,
                      const vector[Array]*, const RmspropOptions&, const Stream&) except +translate_exception
    void adagrad_step(const vector[Array]&, const vector[Array]&, const vector[Array]&, const Operand&,
                      const AdagradOptions&, const Stream&) except +translate_exception
    void adam_step(const vector[Array]&, const vector[Array]&, const vector[Array]&, const vector[Array]&,
                   const Operand&, const AdamOptions&, const Stream&) except +translate_exception
    void lamb_step(const vector[Array]&, const vector[Array]&, const vector[Array]&, const vector[Array]&,
                   const Operand&, const AdamOptions&, const Stream&) except +translate_exception
    void lion_step(const vector[Array]&, const vector[Array]&, const vector[Array]&, const LionOptions&,
                   const Stream&) except +translate_exception

    cdef cppclass GradNorm:
        Array norm, factor

    Array has_inf_nan(const vector[Array]&, const Stream&) except +translate_exception
    GradNorm clip_grad_norm(const vector[Array]&, double, const Operand&, const Stream&) except +translate_exception
