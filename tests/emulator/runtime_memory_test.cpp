// Allocations and copies of the runtime's double: bounds, order of frees, directions, and copies that are late.
#include "runtime_support.hpp"

#include <sys/mman.h>
#include <vector>

using namespace stator::test;

namespace {

enum Kind { host_to_host, host_to_device, device_to_host, device_to_device, by_pointers };

void copies_are_late() {
  const Api& api = open_devices("h200");
  void* const stream = new_stream(api);
  void* const memory = new_memory(api, 4, stream);
  int value = 1, back = 0;
  check(api.copy(memory, &value, 4, host_to_device, stream) == 0, "copied in");
  value = 2;
  check(api.copy(&back, memory, 4, device_to_host, stream) == 0 && back == 0, "not there yet");
  check(api.stream_synchronize(stream) == 0 && back == 2, "pageable memory was read late", back);
}

void memory_that_is_gone_is_a_fault() {
  const Api& api = open_devices("h200");
  void* const stream = new_stream(api);
  void* const memory = new_memory(api, 4096, stream);
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  api.copy(memory, page, 4096, host_to_device, stream);
  munmap(page, 4096);
  check(api.stream_synchronize(stream) == error::illegal_address, "the source is gone");
  check(std::strstr(api.fault(0), "pageable"), api.fault(0));
}

void directions_and_bounds_are_checked() {
  const Api& api = open_devices("h200");
  void* const stream = new_stream(api);
  char* const memory = static_cast<char*>(new_memory(api, 100, stream));
  char bytes[200] = {};
  check(api.copy(memory, bytes, 101, host_to_device, stream) == error::invalid_value, "a byte too many");
  check(api.copy(memory + 99, bytes, 1, host_to_device, stream) == 0, "the last byte");
  check(api.copy(bytes, bytes + 100, 4, device_to_host, stream) == error::invalid_value, "no device memory");
  check(api.copy(bytes, memory, 4, host_to_device, stream) == error::invalid_value, "the wrong way");
  check(api.copy(memory, bytes, 4, 7, stream) == error::invalid_memcpy_direction, "no direction");
  check(api.copy(memory, bytes, 4, by_pointers, stream) == 0, "by the pointers");
  check(api.fill(memory, 0, 101, stream) == error::invalid_value, "a fill that is too long");
  check(api.fill(bytes, 0, 4, stream) == error::invalid_value, "a fill of the host");
  check(api.copy(nullptr, nullptr, 0, host_to_device, stream) == 0, "nothing to copy");
  check(api.stream_synchronize(stream) == 0, "refused calls leave no fault");
}

void frees_follow_their_stream() {
  const Api& api = open_devices("h200");
  void *const stream = new_stream(api), *const other = new_stream(api);
  void* const memory = new_memory(api, 64, stream);
  check(api.free_in_order(memory, stream) == 0, "freed");
  check(api.free_in_order(memory, stream) == error::invalid_value, "twice");
  check(api.fill(memory, 0, 64, other) == 0, "still there when the call is made");
  api.stream_synchronize(stream);
  check(api.stream_synchronize(other) == error::illegal_address, "but not when the fill runs");
  check(std::strstr(api.fault(0), "use after free"), api.fault(0));
}

void free_of_a_pool_waits_for_nothing() {
  const Api& api = open_devices("h200");
  void* const stream = new_stream(api);
  void* const memory = new_memory(api, 64, stream);
  api.fill(memory, 0, 64, stream);
  check(api.free(memory) == 0 && api.stream_synchronize(stream) == error::illegal_address, "the fill comes too late");
}

void memory_of_a_pool_is_there_in_the_order_of_the_stream() {
  const Api& api = open_devices("h200");
  void *const stream = new_stream(api), *const other = new_stream(api);
  std::string log;
  note(stream, log, 'a');
  void* const memory = new_memory(api, 64, stream);
  check(api.fill(memory, 0, 64, stream) == 0 && api.stream_synchronize(stream) == 0, "after the allocation");
  note(stream, log, 'b');
  void* const early = new_memory(api, 64, stream);
  api.fill(early, 0, 64, other);
  check(api.stream_synchronize(other) == error::illegal_address, "another stream does not wait for it");
}

void free_of_plain_memory_waits() {
  const Api& api = open_devices("h200");
  std::string log;
  void* const stream = new_stream(api);
  void* memory = nullptr;
  check(api.allocate(&memory, 64) == 0 && api.fill(memory, 0, 64, stream) == 0, "plain memory");
  note(stream, log, 'a');
  check(api.free(memory) == 0 && log == "a", "after all work of the device");
  check(api.stream_synchronize(stream) == 0, "no fault");
}

void memory_ends() {
  const Api& api = open_devices("one_sm");
  void* const stream = new_stream(api);
  size_t free = 0, total = 0;
  check(api.memory_info(&free, &total) == 0 && free == total, "all of it is free");
  void *pool = nullptr, *memory = nullptr, *more = nullptr;
  api.pool_create(&pool, 0);
  check(api.allocate_from_pool(&memory, total - 4096, pool, stream) == 0, "nearly all");
  check(api.allocate_from_pool(&more, 8192, pool, stream) == error::memory_allocation, "too much");
  check(api.free_in_order(memory, stream) == 0, "freed in order");
  check(api.allocate_from_pool(&more, 8192, pool, stream) == 0, "what a stream is about to free is there");
  check(api.pool_destroy(pool) == 0 && api.pool_destroy(pool) == error::invalid_value, "a pool ends once");
  check(api.allocate_from_pool(&memory, 1, pool, stream) == error::invalid_value, "and gives nothing after");
}

void registered_memory() {
  const Api& api = open_devices("h200,a100");
  void* const stream = new_stream(api);
  void *device = new_memory(api, 64, stream), *pinned = nullptr;
  std::vector<char> memory(256, 3);
  char* const at = memory.data() + 64;
  check(api.host_register(nullptr, 64, 0) == error::invalid_value, "no memory");
  check(api.host_register(at, 0, 0) == error::invalid_value, "no bytes");
  check(api.host_register(at, 64, 16) == error::invalid_value, "flags");
  check(api.host_register(at, 64, 3) == 0, "registered");
  check(api.host_register(at, 64, 3) == error::already_registered, "twice");
  check(api.host_register(at - 8, 9, 3) == error::already_registered, "from before");
  check(api.host_register(at + 63, 8, 3) == error::already_registered, "from its last byte");
  check(api.host_register(at + 64, 64, 3) == 0 && api.host_unregister(at + 64) == 0, "what follows");
  check(api.host_allocate(&pinned, 64, 3) == 0, "pinned memory");
  check(api.host_register(pinned, 64, 3) == error::already_registered, "what is pinned already");
  int type = 0, index = 0;
  check(api.pointer_attributes(at + 8, &type, &index) == 0 && type == 1, "it is page-locked");
  check(api.copy(device, at, 64, host_to_device, stream) == 0 && api.stream_synchronize(stream) == 0, "copied");
  check(api.host_unregister(at + 8) == error::not_registered, "not its beginning");
  check(api.host_free(at) == error::invalid_value && api.free(at) == error::invalid_value, "the wrong frees");
  check(api.host_unregister(pinned) == error::not_registered, "what was allocated");
  check(api.host_unregister(at) == 0 && api.host_unregister(at) == error::not_registered, "an end, once");
  check(api.host_unregister(nullptr) == error::invalid_value, "a null pointer");
  check(api.pointer_attributes(at, &type, &index) == 0 && type == 0, "pageable again");
}

void managed_and_pinned_memory() {
  const Api& api = open_devices("h200,a100");
  void* const stream = new_stream(api);
  void *managed = nullptr, *pinned = nullptr, *device = new_memory(api, 64, stream);
  check(api.managed_allocate(&managed, 64, 3) == error::invalid_value, "flags");
  check(api.managed_allocate(&managed, 64, 1) == 0 && api.host_allocate(&pinned, 64, 3) == 0, "both");
  check(api.prefetch(managed, 64, 0, stream) == 0 && api.prefetch(managed, 64, -1, stream) == 0, "prefetched");
  check(api.prefetch(managed, 65, 0, stream) == error::invalid_value, "too long");
  check(api.prefetch(device, 64, 0, stream) == error::invalid_value, "of device memory");
  check(api.advise(managed, 64, 1, 0) == 0 && api.advise(managed, 64, 9, 0) == error::invalid_value, "advice");
  int types[4] = {}, index = 0;
  const void* const pointers[] = {device, managed, pinned, types};
  for (int i = 0; i < 4; ++i) api.pointer_attributes(pointers[i], &types[i], &index);
  check(types[0] == 2 && types[1] == 3 && types[2] == 1 && types[3] == 0, "what they are");
  std::memset(pinned, 7, 64);
  check(api.copy(device, pinned, 64, host_to_device, stream) == 0, "from pinned memory");
  check(api.copy(managed, device, 64, device_to_device, stream) == 0, "to managed memory");
  check(api.stream_synchronize(stream) == 0 && static_cast<char*>(managed)[63] == 7, "copied");
  check(api.host_free(managed) == error::invalid_value && api.free(pinned) == error::invalid_value, "the wrong frees");
  check(api.host_free(pinned) == 0 && api.free(managed) == 0 && api.free(nullptr) == 0, "the right ones");
}

void hints_hold_for_the_pages_of_managed_memory() {
  const Api& api = open_devices("h200,a100");
  void* const stream = new_stream(api);
  constexpr size_t bytes = 3 * 4096;
  enum { read_mostly = 1, preferred, accessed_by, last_prefetch };
  void* memory = nullptr;
  check(api.managed_allocate(&memory, bytes, 1) == 0, "allocated");
  char* const second = static_cast<char*>(memory) + 4096;
  const auto told = [&](int attribute, const void* from, size_t size) {
    int value = 7;
    check(api.range_attribute(&value, sizeof value, attribute, from, size) == 0, "range attribute");
    return value;
  };
  check(told(read_mostly, memory, bytes) == 0 && told(preferred, memory, bytes) == -2, "nothing yet");
  check(api.advise(second, 1, 1, 0) == 0, "a page");
  check(told(read_mostly, memory, bytes) == 0 && told(read_mostly, second, 4096) == 1, "only the page");
  check(api.advise(second, 4097, 2, 0) == 0 && told(read_mostly, second, 4096) == 0, "unset");
  check(api.advise(memory, bytes, 3, 1) == 0 && told(preferred, memory, bytes) == 1, "preferred");
  check(api.advise(second, 1, 3, -1) == 0 && told(preferred, second, 1) == -1, "the host");
  check(told(preferred, memory, bytes) == -2, "the pages differ");
  check(api.advise(memory, bytes, 5, 1) == 0 && api.advise(memory, bytes, 5, -1) == 0, "accessed by two");
  check(api.advise(second, 1, 5, 0) == 0 && api.advise(memory, bytes, 5, 1) == 0, "and a page by a third");
  int users[3] = {};
  check(api.range_attribute(users, sizeof users, accessed_by, memory, bytes) == 0, "users");
  check(users[0] + users[1] == 0 && users[2] == -2, "those of all pages");
  check(api.advise(memory, bytes, 6, -1) == 0, "unset for one");
  check(api.range_attribute(users, 4, accessed_by, memory, bytes) == 0 && users[0] == 1, "the other one stays");
  check(api.advise(memory, bytes, 5, 2) == error::invalid_device, "no such device");
  check(api.advise(memory, bytes, 4, 2) == 0 && told(preferred, memory, bytes) == -2, "unset needs none");
  check(api.prefetch(memory, bytes, 1, stream) == 0 && told(last_prefetch, memory, bytes) == 1, "prefetched");
  check(api.prefetch(memory, bytes, 2, stream) == error::invalid_device, "nor to one");
  check(api.range_attribute(users, 12, preferred, memory, bytes) == error::invalid_value, "more than a number");
  check(api.range_attribute(users, 3, accessed_by, memory, bytes) == error::invalid_value, "less than one");
  check(api.range_attribute(users, 4, 9, memory, bytes) == error::invalid_value, "no attribute");
  check(api.range_attribute(users, 4, preferred, memory, bytes + 1) == error::invalid_value, "too long");
  check(api.free(memory) == 0, "freed");
  check(api.range_attribute(users, 4, preferred, memory, bytes) == error::invalid_value, "and gone");
}

void devices_without_concurrent_access_take_no_hints() {
  const Api& api = open_devices("wsl");
  void* const stream = new_stream(api);
  int value = 1;
  check(api.device_attribute(&value, 89, 0) == 0 && value == 0, "concurrent access");
  check(api.device_attribute(&value, 83, 0) == 0 && value == 1, "managed memory");
  void* memory = nullptr;
  check(api.managed_allocate(&memory, 64, 1) == 0, "allocated");
  check(api.prefetch(memory, 64, 0, stream) == error::invalid_device, "to the device");
  check(api.prefetch(memory, 64, -1, stream) == error::invalid_device, "to the host");
  check(api.advise(memory, 64, 3, 0) == error::invalid_device && api.advise(memory, 64, 3, -1) == 0, "advice");
  check(api.free(memory) == 0, "freed");
}

void devices_copy_to_each_other() {
  const Api& api = open_devices("h200,a100");
  void* const stream = new_stream(api);
  void *const here = new_memory(api, 4, stream), *const there = new_memory(api, 4, stream, 1);
  int value = 5, back = 0;
  api.copy(here, &value, 4, host_to_device, stream);
  check(api.copy(there, here, 4, device_to_device, stream) != 0, "no peers: only a copy that names both devices");
  check(api.copy_peer(there, 1, here, 0, 4, stream) == 0, "between devices");
  check(api.stream_synchronize(stream) == 0, "copied");
  api.set_device(1);
  void* const other = new_stream(api);
  api.copy(&back, there, 4, device_to_host, other);
  check(api.stream_synchronize(other) == 0 && back == 5, "arrived", back);
}

}  // namespace

int main(int argc, char** argv) {
  return run(
      argc, argv,
      {{"copies_are_late", copies_are_late},
       {"memory_that_is_gone_is_a_fault", memory_that_is_gone_is_a_fault},
       {"directions_and_bounds_are_checked", directions_and_bounds_are_checked},
       {"frees_follow_their_stream", frees_follow_their_stream},
       {"free_of_a_pool_waits_for_nothing", free_of_a_pool_waits_for_nothing},
       {"free_of_plain_memory_waits", free_of_plain_memory_waits},
       {"memory_of_a_pool_is_there_in_the_order_of_the_stream", memory_of_a_pool_is_there_in_the_order_of_the_stream},
       {"memory_ends", memory_ends},
       {"registered_memory", registered_memory},
       {"managed_and_pinned_memory", managed_and_pinned_memory},
       {"hints_hold_for_the_pages_of_managed_memory", hints_hold_for_the_pages_of_managed_memory},
       {"devices_without_concurrent_access_take_no_hints", devices_without_concurrent_access_take_no_hints},
       {"devices_copy_to_each_other", devices_copy_to_each_other}});
}
