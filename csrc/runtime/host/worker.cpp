#include "runtime/host/worker.hpp"

namespace stator::runtime::host {

void Worker::keep_off(int cpu) {
  if (cpu == off_) return;
  cpu_set_t now;
  if (pthread_getaffinity_np(thread.native_handle(), sizeof now, &now) != 0) return;
  if (!CPU_EQUAL(&now, &given_)) allowed_ = now;  // set from outside
  cpu_set_t rest = allowed_;
  if (cpu >= 0) CPU_CLR(cpu, &rest);
  if (CPU_COUNT(&rest) == 0 || pthread_setaffinity_np(thread.native_handle(), sizeof rest, &rest) != 0) return;
  given_ = rest;
  off_ = cpu;
}

}  // namespace stator::runtime::host
