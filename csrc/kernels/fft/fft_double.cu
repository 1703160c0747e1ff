// The transforms of fft.cu in double precision, in a file of their own so that both are compiled in parallel.
#include "kernels/fft/signals.cuh"

namespace stator::STATOR_TARGET::fft {

void double_signals(const params::Queue& q, const params::FftSignals& p);

void double_signals(const params::Queue& q, const params::FftSignals& p) { launch_signals<double>(q, p); }

}  // namespace stator::STATOR_TARGET::fft
