// The lines of fft.cu in double precision, apart from it to be compiled beside it.
#include "kernels/fft/lines.cuh"

namespace stator::STATOR_COLUMN {

void double_lines(const abi::Queue& q, const abi::FftLines& p);

void double_lines(const abi::Queue& q, const abi::FftLines& p) { launch_lines<double>(q, p); }

}  // namespace stator::STATOR_COLUMN
