// A thread that runs the host target's work, and where it may run.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <condition_variable>
#include <thread>

namespace stator::runtime::host {

// All but the thread is guarded by the scheduler's mutex.
class Worker {
 public:
  std::thread thread;
  std::condition_variable roused;

  // Leaves out a CPU (-1: none) when it next runs, of those that the thread has or was given by others meanwhile.
  // Nothing where that fails or leaves none.
  void keep_off(int cpu);
  int kept_off() const { return off_; }

 private:
  int off_ = -1;
  cpu_set_t allowed_{}, given_{};
};

}  // namespace stator::runtime::host
