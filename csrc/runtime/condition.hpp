// Waiting on a condition variable. std::condition_variable::wait is a symbol of GCC 12's libstdc++ (GLIBCXX_3.4.30),
// which the systems that wheels are made for do not have yet; all its other members are older.
#pragma once

#include <pthread.h>
#include <condition_variable>
#include <mutex>

namespace stator::runtime {

// As condition.wait(lock): may return without a notification.
inline void wait_on(std::condition_variable& condition, std::unique_lock<std::mutex>& lock) {
  pthread_cond_wait(condition.native_handle(), lock.mutex()->native_handle());
}

}  // namespace stator::runtime
