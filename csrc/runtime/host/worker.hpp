// A worker thread of the host target, and the CPUs that it may run on.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <condition_variable>
#include <thread>

namespace stator::runtime::host {

// Everything but the thread is guarded by the scheduler's mutex.
class Worker {
 public:
  std::thread thread;
  std::condition_variable roused;

  // Excludes one CPU (-1: none) from the thread's affinity mask, which others may have changed meanwhile. Does nothing
  // where that fails or would leave no CPU.
  void keep_off(int cpu);
  int kept_off() const { return off_; }

 private:
  int off_ = -1;
  cpu_set_t allowed_{}, given_{};
};

}  // namespace stator::runtime::host
