// What the other threads of the process do.
#pragma once

#include <unistd.h>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace stator::test {

// Whether all other threads sleep, so that none is starting, works, or looks for work.
inline bool others_sleep() {
  const std::string mine = std::to_string(gettid());
  std::error_code gone;  // a thread that ends meanwhile
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    if (task.path().filename() == mine) continue;
    std::ifstream file(task.path() / "stat");
    std::string text;
    std::getline(file, text);
    const size_t at = text.rfind(") ");
    if (at != std::string::npos && text[at + 2] != 'S') return false;
  }
  return true;
}

// Waits for it; false if it takes a minute.
inline bool wait_until_others_sleep() {
  for (int i = 0; i < 60'000; ++i) {
    if (others_sleep()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace stator::test
