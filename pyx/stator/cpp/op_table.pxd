# stator/op_table.hpp
from libc.stdint cimport uint32_t

from stator.cpp.std cimport string_view


cdef extern from "stator/op_table.hpp" namespace "stator" nogil:
    ctypedef enum Op:
        add "stator::Op::add"
        add_scaled "stator::Op::add_scaled"
        subtract "stator::Op::subtract"
        multiply "stator::Op::multiply"
        divide "stator::Op::divide"
        floor_divide "stator::Op::floor_divide"
        remainder "stator::Op::remainder"
        pow "stator::Op::pow"
        negative "stator::Op::negative"
        positive "stator::Op::positive"
        abs "stator::Op::abs"
        round "stator::Op::round"
        real "stator::Op::real"
        imag "stator::Op::imag"
        conj "stator::Op::conj"
        minimum "stator::Op::minimum"
        maximum "stator::Op::maximum"
        clip "stator::Op::clip"
        nan_to_num "stator::Op::nan_to_num"
        equal "stator::Op::equal"
        not_equal "stator::Op::not_equal"
        less "stator::Op::less"
        less_equal "stator::Op::less_equal"
        greater "stator::Op::greater"
        greater_equal "stator::Op::greater_equal"
        bitwise_and "stator::Op::bitwise_and"
        bitwise_or "stator::Op::bitwise_or"
        bitwise_xor "stator::Op::bitwise_xor"
        bitwise_invert "stator::Op::bitwise_invert"
        bitwise_left_shift "stator::Op::bitwise_left_shift"
        bitwise_right_shift "stator::Op::bitwise_right_shift"
        gelu "stator::Op::gelu"
        gelu_tanh "stator::Op::gelu_tanh"
        gelu_sigmoid "stator::Op::gelu_sigmoid"
        gelu_backward "stator::Op::gelu_backward"
        gelu_tanh_backward "stator::Op::gelu_tanh_backward"
        gelu_sigmoid_backward "stator::Op::gelu_sigmoid_backward"
    ctypedef enum ShapeClass:
        unary "stator::ShapeClass::unary"
        binary "stator::ShapeClass::binary"
        ternary "stator::ShapeClass::ternary"
        quaternary "stator::ShapeClass::quaternary"
        select "stator::ShapeClass::select"
        reduce "stator::ShapeClass::reduce"
    ctypedef enum ResultRule:
        inexact "stator::ResultRule::inexact"
        accumulate "stator::ResultRule::accumulate"
    ctypedef enum Family "stator::Family":
        pass
    ctypedef enum Sync "stator::Sync":
        pass
    ctypedef enum Capture "stator::Capture":
        pass
    ctypedef enum Determinism "stator::Determinism":
        pass

    cdef cppclass Tolerance:
        int float32, float64

    cdef cppclass Launches:
        int host, cuda

    cdef cppclass OpInfo:
        string_view name, call
        Family family
        ShapeClass shape_class
        uint32_t dtypes
        ResultRule result
        string_view oracle
        Tolerance tolerance
        Sync sync
        Capture capture
        Determinism determinism
        Launches launches
        string_view summary, operands

    int op_count
    const OpInfo& op_info(Op)
    string_view family_name "stator::name"(Family)
    string_view shape_class_name "stator::name"(ShapeClass)
    string_view result_name "stator::name"(ResultRule)
    string_view determinism_name "stator::name"(Determinism)
