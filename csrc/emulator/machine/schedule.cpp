#include "emulator/machine/schedule.hpp"

#include <immintrin.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <numeric>
#include <thread>

namespace stator::emulator::machine {
namespace {

// Instructions that a warp and a block execute before others have their turn.
constexpr uint64_t warp_turn = 4096, block_turn = uint64_t(1) << 18;

uint64_t mixed(uint64_t v) {
  v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9;
  v = (v ^ v >> 27) * 0x94d049bb133111eb;
  return v ^ v >> 31;
}

// Numbers 0..count-1 in an order that the seed chooses: k * step + start, with a step that shares no factor with count.
class Order {
 public:
  Order(uint64_t count, uint64_t seed) : count_(count) {
    if (seed == 0 || count < 2) return;
    step_ = mixed(seed) % count;
    while (std::gcd(step_, count) != 1) step_ = (step_ + 1) % count;
    start_ = mixed(seed + 1) % count;
  }
  uint64_t operator[](uint64_t k) const {
    return uint64_t((static_cast<unsigned __int128>(k) * step_ + start_) % count_);
  }

 private:
  uint64_t count_, step_ = 1, start_ = 0;
};

std::byte* aligned(std::vector<std::byte>& storage, size_t bytes, size_t alignment) {
  storage.resize(bytes + alignment);
  void* start = storage.data();
  size_t space = storage.size();
  return static_cast<std::byte*>(std::align(alignment, bytes, start, space));
}

// The first cache and shared memory are one memory, which is 28 KiB more than what can be shared (CUDA programming
// guide, "Technical Specifications per Compute Capability"). What resident blocks share is taken from it.
uint64_t cache_bytes(const Launch& launch) {
  const Profile& p = *launch.profile;
  const uint64_t most = std::max<uint64_t>(1, launch.resident / p.multiprocessors);
  const uint64_t blocks = std::min(most, (launch.grid.count() + p.multiprocessors - 1) / p.multiprocessors);
  const uint64_t all = p.shared_per_multiprocessor + 28 * 1024;
  const uint64_t shared = blocks * (launch.code->shared_bytes + launch.dynamic_shared + p.shared_reserved);
  return all > shared ? all - shared : 0;
}

// A block's memory is made once and used for one block after the other.
std::unique_ptr<Block> make_block(Launch& launch, Worker& worker) {
  const Code& code = *launch.code;
  auto block = std::make_unique<Block>();
  block->launch = &launch;
  block->worker = &worker;
  block->shared_bytes = code.shared_bytes + launch.dynamic_shared;
  block->shared = aligned(block->shared_storage, block->shared_bytes, 1024);
  block->shared_bits.resize(block->shared_bytes / 64 + 2);
  const uint64_t threads = launch.block.count();
  block->warps.resize((threads + lanes - 1) / lanes);
  for (uint32_t k = 0; k < block->warps.size(); ++k) {
    Warp& w = block->warps[k];
    w.index = k;
    w.block = block.get();
    w.worker = &worker;
    w.code = &code;
    w.bank[0] = aligned(w.register_storage, code.register_bytes, 64);
    w.bank[1] = code.constants_at;
    const uint64_t left = threads - uint64_t(k) * lanes;
    w.existing = left >= lanes ? all_lanes : (uint32_t(1) << left) - 1;
    // Apart, so that lanes do not share the same lines of a cache set. Without local memory there is no window of it,
    // which addresses of parameters could fall into.
    w.local_stride = code.local_bytes ? code.local_bytes + 64 : 0;
    w.local = aligned(w.local_storage, code.local_bytes ? w.local_stride * lanes : 0, 64);
    w.local_words = code.local_bytes / 64 + 2;
    w.local_bit_storage.resize(w.local_words * lanes);
    w.local_bits = w.local_bit_storage.data();
    for (uint32_t l = 0; l < lanes; ++l) {
      const uint32_t thread = k * lanes + l;
      w.thread[0][l] = thread % launch.block.x;
      w.thread[1][l] = thread / launch.block.x % launch.block.y;
      w.thread[2][l] = thread / launch.block.x / launch.block.y;
    }
  }
  for (Barrier& barrier : block->barriers) barrier.waiting.resize(block->warps.size());
  return block;
}

void start(Block& b, uint64_t number) {
  Launch& launch = *b.launch;
  b.number = number;
  b.index = {uint32_t(number % launch.grid.x), uint32_t(number / launch.grid.x % launch.grid.y),
             uint32_t(number / launch.grid.x / launch.grid.y)};
  b.live = uint32_t(launch.block.count());
  std::memset(b.shared, 0xff, b.shared_bytes);
  std::fill(b.shared_bits.begin(), b.shared_bits.end(), 0);
  const Order order(b.warps.size(), launch.settings.seed ? mixed(launch.settings.seed) + number : 0);
  b.order.resize(b.warps.size());
  for (uint32_t k = 0; k < b.order.size(); ++k) b.order[k] = uint32_t(order[k]);
  for (Warp& w : b.warps) {
    w.alive = w.existing;
    w.waiting = w.syncing = w.carry = w.active = w.pc = w.loop_first = w.loop_last = 0;
    w.rotate = false;
    std::fill(std::begin(w.lane_pc), std::end(w.lane_pc), 0);
    std::fill(std::begin(w.groups), std::end(w.groups), 0);
    w.copies.clear();
    std::fill(w.local_bit_storage.begin(), w.local_bit_storage.end(), 0);
  }
  for (Barrier& barrier : b.barriers)
    if (barrier.used) {
      barrier = {};
      barrier.waiting.resize(b.warps.size());
    }
  // Multiprocessors take blocks in turn, and keep what earlier ones read.
  if (launch.settings.cache) b.cache = &b.worker->caches[number % launch.profile->multiprocessors];
  if (launch.races) b.clock = std::make_unique<memory::BlockClock>(uint32_t(number), uint32_t(b.warps.size()));
  Counters& c = b.worker->counters;
  ++c.blocks;
  c.threads += b.live;
  c.warps += b.warps.size();
}

std::string at_lines(const Block& b, const std::vector<std::pair<uint32_t, uint32_t>>& counts) {
  std::string text;
  for (const auto& [pc, count] : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " in PTX line " +
            std::to_string(b.launch->code->instructions[pc].line);
  return text;
}

// No warp can run: someone waits for what never comes.
[[noreturn]] void deadlock(Block& b) {
  std::vector<std::pair<uint32_t, uint32_t>> counts;
  Warp* stuck = nullptr;
  unsigned lane = 0;
  for (Warp& w : b.warps)
    for (uint32_t left = w.alive; left; left &= left - 1) {
      const unsigned l = unsigned(__builtin_ctz(left));
      const auto entry = std::find_if(counts.begin(), counts.end(), [&](auto& p) { return p.first == w.lane_pc[l]; });
      if (entry == counts.end())
        counts.emplace_back(w.lane_pc[l], 1);
      else
        ++entry->second;
      const bool syncing = w.syncing >> l & 1;
      if (!stuck || (syncing && !stuck->syncing)) {
        stuck = &w;
        lane = l;
      }
    }
  const Instruction& i = b.launch->code->instructions[stuck->lane_pc[lane]];
  stuck->pc = stuck->lane_pc[lane];
  const uint64_t threads = b.launch->block.count();
  const std::string ended = b.live == threads ? "" : " " + std::to_string(threads - b.live) + " ended.";
  if (stuck->syncing)
    stop(*stuck, i, lane, Fault::missing_lanes,
         "Lanes wait for others that their mask names and that do not come. Of the block's threads wait " +
             at_lines(b, counts) + "." + ended);
  stop(*stuck, i, lane, Fault::divergent_barrier,
       "Threads wait at a barrier to which others do not come. Of the block's threads wait " + at_lines(b, counts) +
           "." + ended);
}

// Whether the block has ended.
bool run_turn(Block& b) {
  const auto run = b.launch->settings.forms ? b.launch->level->run_counting : b.launch->level->run;
  uint64_t used = 0;
  while (b.live && used < block_turn) {
    bool ran = false;
    for (const uint32_t k : b.order) {
      if (!b.warps[k].runnable()) continue;
      used += run(b.warps[k], warp_turn);
      ran = true;
    }
    if (!ran) deadlock(b);
    if (b.launch->stop) return true;
  }
  return b.live == 0;
}

void work(Launch& launch, Worker& worker, std::atomic<uint64_t>& next, uint64_t limit) {
  const uint64_t total = launch.grid.count();
  const Order order(total, launch.settings.seed);
  std::deque<std::unique_ptr<Block>> resident;
  std::vector<std::unique_ptr<Block>> spare;
  bool want = true;  // the last block did not end: another one may be what it waits for
  while (!launch.stop) {
    if (resident.empty() || (want && resident.size() < limit)) {
      const uint64_t k = next < total ? next++ : total;
      if (k < total) {
        if (spare.empty()) spare.push_back(make_block(launch, worker));
        resident.push_front(std::move(spare.back()));
        spare.pop_back();
        start(*resident.front(), order[k]);
      } else if (resident.empty()) {
        return;
      }
    }
    want = !run_turn(*resident.front());
    if (want)
      resident.push_back(std::move(resident.front()));
    else
      spare.push_back(std::move(resident.front()));
    resident.pop_front();
  }
}

}  // namespace

Report run_grid(Launch& launch, Counters& counters) {
  const uint64_t total = launch.grid.count();
  uint64_t threads = launch.races ? 1 : std::max<uint64_t>(1, std::min<uint64_t>(launch.settings.threads, total));
  launch.parallel = threads > 1;
  launch.cache_bytes = cache_bytes(launch);
  if (launch.settings.forms) launch.executed.resize(launch.code->instructions.size());
  const uint64_t limit = std::max<uint64_t>(1, (std::min(launch.resident, total) + threads - 1) / threads);
  std::atomic<uint64_t> next{0};
  std::mutex mutex;
  Report first;
  const auto body = [&] {
    Worker worker;
    worker.launch = &launch;
    worker.last.resize(launch.code->sites + 1);
    worker.executed.resize(launch.executed.size());
    worker.counters.registers_bytes = launch.code->register_bytes;
    if (launch.settings.cache)
      worker.caches.resize(launch.profile->multiprocessors, FirstCache(launch.cache_bytes, launch.memory->origin()));
    const unsigned mode = _mm_getcsr();
    _mm_setcsr(0x1f80);  // nearest, nothing flushed, no traps
    Report report;
    try {
      work(launch, worker, next, limit);
    } catch (Stopped& stopped) {
      report = std::move(stopped.report);
    }
    _mm_setcsr(mode);
    const std::lock_guard lock(mutex);
    counters += worker.counters;
    for (size_t i = 0; i < worker.executed.size(); ++i) launch.executed[i] += worker.executed[i];
    if (report && !first) first = std::move(report);
    if (report) launch.stop = true;
  };
  std::vector<std::thread> others;
  for (uint64_t k = 1; k < threads; ++k) others.emplace_back(body);
  body();
  for (std::thread& t : others) t.join();
  // What comes after a read of what nothing wrote may be its consequence. A race for the same word is its cause.
  const Report& read = launch.unwritten;
  const bool cause = first.fault == Fault::race && read.address / 4 == first.address / 4 &&
                     read.allocation == first.allocation && (read.allocation || read.block == first.block);
  return read && !cause ? read : first;
}

}  // namespace stator::emulator::machine
