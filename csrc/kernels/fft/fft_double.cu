// The lines of fft.cu in double precision, apart from it to be compiled beside it.
#include "kernels/fft/lines.cuh"

namespace stator::STATOR_TARGET::fft {

void double_lines(const params::Queue& q, const params::FftLines& p);

void double_lines(const params::Queue& q, const params::FftLines& p) { launch_lines<double>(q, p); }

}  // namespace stator::STATOR_TARGET::fft
