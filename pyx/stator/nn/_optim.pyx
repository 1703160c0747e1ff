# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Steps of optimisers on lists of parameters, loss scaling and the length of gradients."""
from stator._array cimport Array, as_array, as_out, plain_or_other, wrap_array
from stator._backend cimport Backend, enter
from stator._convert cimport to_entries, to_flag, to_float, wrong_type
from stator._creation import zeros
from stator._integers cimport to_int
from stator.cpp cimport optim
from stator.cpp.array cimport Array as CppArray, Operand, Scalar
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.std cimport vector


# The arrays of one list of a step.
cdef int gather(object arrays, vector[CppArray]& out, str op, str name) except -1:
    for entry in to_entries(arrays, op, name):
        out.push_back(as_array(entry, op).c)
    return 0


cdef int set_number(Operand* out, object value, str op, str name) except -1:
    if isinstance(value, Array):
        out[0] = Operand((<Array>value).c)
    else:
        out[0] = Operand(Scalar(to_float(value, op, name)))
    return 0


cdef int set_step(Operand* out, object value, str op) except -1:
    if isinstance(value, Array):
        out[0] = Operand((<Array>value).c)
    else:
        out[0] = Operand(Scalar(to_int(value, op, "step")))
    return 0


# The lists that every step takes, and the options that it takes too.
cdef class Lists:
    cdef str op
    cdef vector[CppArray] params, grads, masters
    cdef vector[CppArray] first, second, third  # states; Cython destroys no arrays of vectors
    cdef bint has_masters
    cdef object kept  # what the options point to
    cdef Backend backend

    def __cinit__(self, str op, object params, object grads, object masters):
        self.op = op
        params = to_entries(params, op, "params")
        gather(params, self.params, op, "params")
        gather(grads, self.grads, op, "grads")
        self.has_masters = masters is not None
        if self.has_masters:
            gather(masters, self.masters, op, "masters")
        self.backend = (<Array>params[0]).backend if params else None

    cdef int set(self, optim.StepOptions* options, object lr, object weight_decay, object maximize, object grad_scale,
                 object grad_factor, object found_inf) except -1:
        found_inf = plain_or_other(found_inf)
        self.kept = (lr, grad_scale, grad_factor, found_inf)
        set_number(&options.lr, lr, self.op, "lr")
        options.weight_decay = to_float(weight_decay, self.op, "weight_decay")
        options.maximize = to_flag(maximize, self.op, "maximize")
        if self.has_masters:
            options.masters = &self.masters
        if grad_scale is not None:
            set_number(&options.grad_scale, grad_scale, self.op, "grad_scale")
        if grad_factor is not None:
            set_number(&options.grad_factor, grad_factor, self.op, "grad_factor")
        options.found_inf = as_out(found_inf, self.op, "found_inf")
        return 0

    cdef int choose(self, CppStream& stream) except -1:
        if self.backend is not None:
            enter(self.backend, stream)
        return 0


cdef int set_betas(object betas, str op, double* beta1, double* beta2) except -1:
    if not isinstance(betas, (tuple, list)) or len(betas) != 2:
        raise wrong_type(betas, op, "betas", "a tuple of two numbers")
    beta1[0] = to_float(betas[0], op, "betas")
    beta2[0] = to_float(betas[1], op, "betas")
    return 0


def sgd_step(params: Sequence[Array], grads: Sequence[Array], momentum_buffers: Sequence[Array] | None = None, /, *,
             lr: float | Array = 1e-3, momentum: float = 0.0, dampening: float = 0.0, nesterov: bool = False,
             weight_decay: float = 0.0, maximize: bool = False, step: int | Array | None = None,
             masters: Sequence[Array] | None = None, grad_scale: float | Array | None = None,
             grad_factor: float | Array | None = None, found_inf: Array | None = None) -> None:
    """One step of gradient descent in place, in one launch, as torch.optim.SGD. Asynchronous.

    momentum_buffers are needed with momentum, of zeros at first; at step 1, where it is given, momentum begins with the
    gradient. See adam_step for the lists and for what all steps take.

    >>> param = be.ones((2,))
    >>> stator.nn.sgd_step([param], [be.ones((2,))], lr=0.5)
    >>> param.tolist()
    [0.5, 0.5]
    """
    cdef Lists lists = Lists("nn.sgd_step", params, grads, masters)
    cdef optim.SgdOptions options
    cdef CppStream stream
    cdef const vector[CppArray]* buffers = NULL
    if momentum_buffers is not None:
        gather(momentum_buffers, lists.first, lists.op, "momentum_buffers")
        buffers = &lists.first
    lists.set(&options, lr, weight_decay, maximize, grad_scale, grad_factor, found_inf)
    options.momentum = to_float(momentum, "nn.sgd_step", "momentum")
    options.dampening = to_float(dampening, "nn.sgd_step", "dampening")
    options.nesterov = to_flag(nesterov, "nn.sgd_step", "nesterov")
    if step is not None:
        set_step(&options.step, step, "nn.sgd_step")
    lists.choose(stream)
    with nogil:
        optim.sgd_step(lists.params, lists.grads, buffers, options, stream)


def rmsprop_step(params: Sequence[Array], grads: Sequence[Array], square_avgs: Sequence[Array],
                 momentum_buffers: Sequence[Array] | None = None, grad_avgs: Sequence[Array] | None = None, /, *,
                 lr: float | Array = 1e-2, alpha: float = 0.99, eps: float = 1e-8, momentum: float = 0.0,
                 weight_decay: float = 0.0, maximize: bool = False, masters: Sequence[Array] | None = None,
                 grad_scale: float | Array | None = None, grad_factor: float | Array | None = None,
                 found_inf: Array | None = None) -> None:
    """One step of RMSprop in place, in one launch, as torch.optim.RMSprop. Asynchronous.

    momentum_buffers are needed with momentum; with grad_avgs the step is centred. States are zeros at first. See
    adam_step for the lists and for what all steps take.

    >>> param, square_avg = be.ones((2,)), be.zeros((2,))
    >>> stator.nn.rmsprop_step([param], [be.ones((2,))], [square_avg], lr=0.5, alpha=0.75, eps=0.0)
    >>> param.tolist(), square_avg.tolist()
    ([0.0, 0.0], [0.25, 0.25])
    """
    cdef Lists lists = Lists("nn.rmsprop_step", params, grads, masters)
    cdef optim.RmspropOptions options
    cdef CppStream stream
    cdef const vector[CppArray]* buffers = NULL
    cdef const vector[CppArray]* means = NULL
    gather(square_avgs, lists.first, lists.op, "square_avgs")
    if momentum_buffers is not None:
        gather(momentum_buffers, lists.second, lists.op, "momentum_buffers")
        buffers = &lists.second
    if grad_avgs is not None:
        gather(grad_avgs, lists.third, lists.op, "grad_avgs")
        means = &lists.third
    lists.set(&options, lr, weight_decay, maximize, grad_scale, grad_factor, found_inf)
    options.alpha = to_float(alpha, "nn.rmsprop_step", "alpha")
    options.eps = to_float(eps, "nn.rmsprop_step", "eps")
    options.momentum = to_float(momentum, "nn.rmsprop_step", "momentum")
    lists.choose(stream)
    with nogil:
        optim.rmsprop_step(lists.params, lists.grads, lists.first, buffers, means, options, stream)


def adagrad_step(params: Sequence[Array], grads: Sequence[Array], state_sums: Sequence[Array], /, *,
                 step: int | Array, lr: float | Array = 1e-2, lr_decay: float = 0.0, eps: float = 1e-10,
                 weight_decay: float = 0.0, maximize: bool = False, masters: Sequence[Array] | None = None,
                 grad_scale: float | Array | None = None, grad_factor: float | Array | None = None,
                 found_inf: Array | None = None) -> None:
    """One step of Adagrad in place, in one launch, as torch.optim.Adagrad. Asynchronous.

    The rate is lr / (1 + (step - 1) * lr_decay). See adam_step for the lists and for what all steps take.

    >>> param, state_sum = be.ones((2,)), be.zeros((2,))
    >>> stator.nn.adagrad_step([param], [be.ones((2,))], [state_sum], step=1, lr=0.5, eps=0.0)
    >>> param.tolist(), state_sum.tolist()
    ([0.5, 0.5], [1.0, 1.0])
    """
    cdef Lists lists = Lists("nn.adagrad_step", params, grads, masters)
    cdef optim.AdagradOptions options
    cdef optim.SgdOptions count
    cdef CppStream stream
    gather(state_sums, lists.first, lists.op, "state_sums")
    lists.set(&options, lr, weight_decay, maximize, grad_scale, grad_factor, found_inf)
    options.lr_decay = to_float(lr_decay, "nn.adagrad_step", "lr_decay")
    options.eps = to_float(eps, "nn.adagrad_step", "eps")
    set_step(&count.step, step, "nn.adagrad_step")
    lists.choose(stream)
    with nogil:
        optim.adagrad_step(lists.params, lists.grads, lists.first, count.step, options, stream)


def adam_step(params: Sequence[Array], grads: Sequence[Array], exp_avgs: Sequence[Array],
              exp_avg_sqs: Sequence[Array], /, *, step: int | Array, lr: float | Array = 1e-3,
              betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0,
              decoupled: bool = False, maximize: bool = False, masters: Sequence[Array] | None = None,
              grad_scale: float | Array | None = None, grad_factor: float | Array | None = None,
              found_inf: Array | None = None) -> None:
    """One step of Adam, or AdamW when decoupled, in place and in one launch. Asynchronous.

    A parameter, its gradient and its states are of one shape; states have the params' dtype or float32. Arrays that are
    not contiguous are updated through copies. step counts from 1. step, lr, grad_scale and grad_factor
    may be 0-d arrays, which are read when the step runs, so that a captured step can be replayed.

    Gradients are divided by grad_scale and multiplied by grad_factor first; where found_inf, a 0-d bool, is true,
    nothing changes. masters are float32 copies of float16 or bfloat16 params: the step updates them, and the params
    become their roundings.

    >>> param, mean, square = be.ones((2,)), be.zeros((2,)), be.zeros((2,))
    >>> stator.nn.adam_step([param], [be.ones((2,))], [mean], [square], step=1, lr=0.5)
    >>> [round(p, 6) for p in param.tolist()]
    [0.5, 0.5]
    """
    cdef Lists lists = Lists("nn.adam_step", params, grads, masters)
    cdef optim.AdamOptions options
    cdef optim.SgdOptions count
    cdef CppStream stream
    set_step(&count.step, step, "nn.adam_step")
    gather(exp_avgs, lists.first, lists.op, "exp_avgs")
    gather(exp_avg_sqs, lists.second, lists.op, "exp_avg_sqs")
    lists.set(&options, lr, weight_decay, maximize, grad_scale, grad_factor, found_inf)
    set_betas(betas, "nn.adam_step", &options.beta1, &options.beta2)
    options.eps = to_float(eps, "nn.adam_step", "eps")
    options.decoupled = to_flag(decoupled, "nn.adam_step", "decoupled")
    lists.choose(stream)
    with nogil:
        optim.adam_step(lists.params, lists.grads, lists.first, lists.second, count.step, options, stream)


def lamb_step(params: Sequence[Array], grads: Sequence[Array], exp_avgs: Sequence[Array],
              exp_avg_sqs: Sequence[Array], /, *, step: int | Array, lr: float | Array = 1e-3,
              betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-6, weight_decay: float = 0.0,
              maximize: bool = False, masters: Sequence[Array] | None = None,
              grad_scale: float | Array | None = None, grad_factor: float | Array | None = None,
              found_inf: Array | None = None) -> None:
    """One step of LAMB in place, in two launches. Asynchronous.

    Adam's step, plus weight_decay times the param, is scaled to the length of the param, unless one of the two is 0.
    See adam_step for the lists and for what all steps take.

    >>> param, mean, square = be.ones((2,)), be.zeros((2,)), be.zeros((2,))
    >>> stator.nn.lamb_step([param], [be.ones((2,))], [mean], [square], step=1, lr=0.5)
    >>> [round(p, 6) for p in param.tolist()]
    [0.5, 0.5]
    """
    cdef Lists lists = Lists("nn.lamb_step", params, grads, masters)
    cdef optim.AdamOptions options
    cdef optim.SgdOptions count
    cdef CppStream stream
    set_step(&count.step, step, "nn.lamb_step")
    gather(exp_avgs, lists.first, lists.op, "exp_avgs")
    gather(exp_avg_sqs, lists.second, lists.op, "exp_avg_sqs")
    lists.set(&options, lr, weight_decay, maximize, grad_scale, grad_factor, found_inf)
    set_betas(betas, "nn.lamb_step", &options.beta1, &options.beta2)
    options.eps = to_float(eps, "nn.lamb_step", "eps")
    lists.choose(stream)
    with nogil:
        optim.lamb_step(lists.params, lists.grads, lists.first, lists.second, count.step, options, stream)


def lion_step(params: Sequence[Array], grads: Sequence[Array], exp_avgs: Sequence[Array], /, *,
              lr: float | Array = 1e-4, betas: tuple[float, float] = (0.9, 0.99), weight_decay: float = 0.0,
              maximize: bool = False, masters: Sequence[Array] | None = None,
              grad_scale: float | Array | None = None, grad_factor: float | Array | None = None,
              found_inf: Array | None = None) -> None:
    """One step of Lion in place, in one launch: by the sign of a mean of gradients. Asynchronous.

    weight_decay is decoupled. See adam_step for the lists and for what all steps take.

    >>> param, mean = be.ones((2,)), be.zeros((2,))
    >>> stator.nn.lion_step([param], [be.ones((2,))], [mean], lr=0.5)
    >>> param.tolist()
    [0.5, 0.5]
    """
    cdef Lists lists = Lists("nn.lion_step", params, grads, masters)
    cdef optim.LionOptions options
    cdef CppStream stream
    gather(exp_avgs, lists.first, lists.op, "exp_avgs")
    lists.set(&options, lr, weight_decay, maximize, grad_scale, grad_factor, found_inf)
    set_betas(betas, "nn.lion_step", &options.beta1, &options.beta2)
    lists.choose(stream)
    with nogil:
        optim.lion_step(lists.params, lists.grads, lists.first, options, stream)


# The backend of the first array, or None.
cdef Backend gather_some(object arrays, vector[CppArray]& out, str op, str name):
    entries = to_entries(arrays, op, name)
    gather(entries, out, op, name)
    return (<Array>entries[0]).backend if entries else None


def has_inf_nan(arrays: Sequence[Array], /) -> Array:
    """Whether an element of floating arrays is infinite or NaN, as a 0-d bool. Asynchronous.

    One launch. What a step takes as found_inf. InvalidValueError for an empty list.

    >>> bool(stator.nn.has_inf_nan([be.ones((2,)), be.asarray([1.0, float("inf")])]))
    True
    """
    cdef vector[CppArray] found
    cdef CppArray out
    cdef CppStream stream
    cdef Backend backend = gather_some(arrays, found, "nn.has_inf_nan", "arrays")
    if backend is not None:
        enter(backend, stream)
    with nogil:
        out = optim.has_inf_nan(found, stream)
    return wrap_array(backend, out)


def clip_grad_norm(grads: Sequence[Array], max_norm: float, /, *,
                   grad_scale: float | Array | None = None) -> tuple[Array, Array]:
    """The Euclidean length of all gradients together, and a factor that limits it. Asynchronous.

    One launch. Both are 0-d, float32, or float64 where a gradient is. The gradients do not change: a step multiplies
    them by the factor, min(1, max_norm / (norm + 1e-6)), as its grad_factor. The length is that of the gradients
    divided by grad_scale. Squares are summed in float32, those of float64 in float64. The length of no gradients is 0,
    on the backend of grad_scale or else the default one.

    >>> norm, factor = stator.nn.clip_grad_norm([be.asarray([3.0, 4.0])], 1.0)
    >>> float(norm), round(float(factor), 4)
    (5.0, 0.2)
    """
    cdef vector[CppArray] found
    cdef optim.SgdOptions options
    cdef optim.GradNorm out
    cdef CppStream stream
    cdef double limit = to_float(max_norm, "nn.clip_grad_norm", "max_norm")
    cdef Backend backend = gather_some(grads, found, "nn.clip_grad_norm", "grads")
    if backend is None:
        nothing = zeros((0,), dtype="float32", device=grad_scale.backend if isinstance(grad_scale, Array) else None)
        backend = gather_some((nothing,), found, "nn.clip_grad_norm", "grads")
    if grad_scale is not None:
        set_number(&options.grad_scale, grad_scale, "nn.clip_grad_norm", "grad_scale")
    if backend is not None:
        enter(backend, stream)
    with nogil:
        out = optim.clip_grad_norm(found, limit, options.grad_scale, stream)
    return wrap_array(backend, out.norm), wrap_array(backend, out.factor)
