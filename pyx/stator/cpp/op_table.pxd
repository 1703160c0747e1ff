# stator/op_table.hpp
from libc.stdint cimport uint32_t
from libcpp.string_view cimport string_view


cdef extern from "stator/op_table.hpp" namespace "stator" nogil:
    ctypedef enum Op:
        add "stator::Op::add"
        subtract "stator::Op::subtract"
        multiply "stator::Op::multiply"
        divide "stator::Op::divide"
        negative "stator::Op::negative"
        equal "stator::Op::equal"
        less "stator::Op::less"
    ctypedef enum ShapeClass:
        unary "stator::ShapeClass::unary"
        binary "stator::ShapeClass::binary"
        reduce "stator::ShapeClass::reduce"
    ctypedef enum ResultRule:
        inexact "stator::ResultRule::inexact"
        accumulate "stator::ResultRule::accumulate"
    ctypedef enum Sync "stator::Sync":
        pass
    ctypedef enum Capture "stator::Capture":
        pass
    ctypedef enum Determinism "stator::Determinism":
        pass

    cdef cppclass Tolerance:
        int float32, float64

    cdef cppclass OpInfo:
        string_view name, call
        ShapeClass shape_class
        uint32_t dtypes
        ResultRule result
        string_view oracle
        Tolerance tolerance
        Sync sync
        Capture capture
        Determinism determinism
        int launches
        string_view seed_ops

    int op_count
    const OpInfo& op_info(Op)
