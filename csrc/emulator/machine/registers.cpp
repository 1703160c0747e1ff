// Slots for virtual registers. PTX names a new register for nearly every value; a warp whose registers were all apart
// would not fit into a cache. Liveness is that of one lane's way through the kernel, which is all that matters, since a
// lane never touches the values of another but where both execute the same instruction.
#include "emulator/machine/decode.hpp"

#include <algorithm>
#include <map>
#include <queue>

namespace stator::emulator::machine {
namespace {

using Set = std::vector<uint64_t>;

bool contains(const Set& s, uint32_t k) { return s[k / 64] >> (k % 64) & 1; }
void insert(Set& s, uint32_t k) { s[k / 64] |= uint64_t(1) << (k % 64); }

struct Piece {           // a basic block
  uint32_t first, last;  // instructions
  std::vector<uint32_t> next;
  Set read, written, live_in, live_out;
};

template <class F>
void each_operand(const Code& code, const Instruction& i, F f) {
  const Operand* const operands = code.operands(i);
  for (unsigned k = 0; k < i.count; ++k)
    if (operands[k].bank == 0) f(operands[k]);
}

class Placement {
 public:
  Placement(Code& code, const std::vector<uint8_t>& bytes)
      : code_(code), bytes_(bytes), words_(bytes.size() / 64 + 1) {}

  void run(Handler branch, Handler indirect, Handler end) {
    split(branch, indirect, end);
    find_live();
    find_spans();
    assign();
    rewrite();
  }

 private:
  void split(Handler branch, Handler indirect, Handler end) {
    const auto count = uint32_t(code_.instructions.size());
    std::vector<bool> starts(count + 1);
    starts[0] = true;
    const auto targets_of = [&](uint32_t k, auto f) {
      const Instruction& i = code_.instructions[k];
      if (i.run == branch) f(i.target);
      if (i.run == indirect)
        for (const uint32_t target : code_.tables[i.target]) f(target);
    };
    for (uint32_t k = 0; k < count; ++k) {
      const Handler run = code_.instructions[k].run;
      if (run != branch && run != indirect && run != end) continue;
      starts[k + 1] = true;
      targets_of(k, [&](uint32_t target) { starts[target] = true; });
    }
    std::vector<uint32_t> piece_of(count + 1);
    for (uint32_t k = 0; k < count; ++k) {
      if (starts[k]) pieces_.push_back({k, k, {}, Set(words_), Set(words_), Set(words_), Set(words_)});
      pieces_.back().last = k;
      piece_of[k] = uint32_t(pieces_.size() - 1);
    }
    for (uint32_t p = 0; p < pieces_.size(); ++p) {
      const Instruction& last = code_.instructions[pieces_[p].last];
      targets_of(pieces_[p].last, [&](uint32_t target) { pieces_[p].next.push_back(piece_of[target]); });
      const bool leaves = (last.run == branch || last.run == indirect || last.run == end) && !last.guarded;
      if (!leaves && p + 1 < pieces_.size()) pieces_[p].next.push_back(p + 1);
    }
  }

  void find_live() {
    for (Piece& p : pieces_)
      for (uint32_t k = p.first; k <= p.last; ++k) {
        const Instruction& i = code_.instructions[k];
        const auto read = [&](uint32_t r) {
          if (!contains(p.written, r)) insert(p.read, r);
        };
        if (i.guarded) read(i.guard);
        each_operand(code_, i, [&](const Operand& o) {
          if (!o.output) read(o.offset);
        });
        each_operand(code_, i, [&](const Operand& o) {
          if (o.output && !i.guarded) insert(p.written, o.offset);
        });
      }
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t at = pieces_.size(); at-- > 0;) {
        Piece& p = pieces_[at];
        for (size_t w = 0; w < words_; ++w) {
          uint64_t out = 0;
          for (const uint32_t n : p.next) out |= pieces_[n].live_in[w];
          const uint64_t in = p.read[w] | (out & ~p.written[w]);
          changed |= in != p.live_in[w];
          p.live_out[w] = out;
          p.live_in[w] = in;
        }
      }
    }
  }

  // From the first to the last instruction at which a register matters, counting reads before writes of an instruction.
  void find_spans() {
    first_.assign(bytes_.size(), ~uint32_t(0));
    last_.assign(bytes_.size(), 0);
    const auto touch = [&](uint32_t r, uint32_t at) {
      first_[r] = std::min(first_[r], at);
      last_[r] = std::max(last_[r], at);
    };
    for (const Piece& p : pieces_) {
      for (uint32_t w = 0; w < words_; ++w) {
        for (uint64_t left = p.live_in[w]; left; left &= left - 1)
          touch(w * 64 + uint32_t(__builtin_ctzll(left)), 2 * p.first);
        for (uint64_t left = p.live_out[w]; left; left &= left - 1)
          touch(w * 64 + uint32_t(__builtin_ctzll(left)), 2 * p.last + 1);
      }
      for (uint32_t k = p.first; k <= p.last; ++k) {
        const Instruction& i = code_.instructions[k];
        unsigned outputs = 0;
        each_operand(code_, i, [&](const Operand& o) { outputs += o.output; });
        if (i.guarded) touch(i.guard, 2 * k);
        // Several results are written one after the other, so they may not take an operand's slot.
        each_operand(code_, i,
                     [&](const Operand& o) { touch(o.offset, o.output && outputs == 1 ? 2 * k + 1 : 2 * k); });
        each_operand(code_, i, [&](const Operand& o) {
          if (o.output) touch(o.offset, 2 * k + 1);
        });
      }
    }
  }

  void assign() {
    std::vector<uint32_t> order;
    for (uint32_t r = 0; r < bytes_.size(); ++r)
      if (first_[r] != ~uint32_t(0)) order.push_back(r);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return first_[a] < first_[b]; });
    offset_.assign(bytes_.size(), 0);
    std::map<uint8_t, std::vector<uint32_t>> free;  // by width
    using Ending = std::pair<uint32_t, uint32_t>;
    std::priority_queue<Ending, std::vector<Ending>, std::greater<>> ending;
    uint32_t used = 0;
    for (const uint32_t r : order) {
      while (!ending.empty() && ending.top().first < first_[r]) {
        free[bytes_[ending.top().second]].push_back(offset_[ending.top().second]);
        ending.pop();
      }
      std::vector<uint32_t>& offsets = free[bytes_[r]];
      if (offsets.empty()) {
        offset_[r] = used;
        used += std::max<uint32_t>(64, bytes_[r] * lanes);  // of predicates too, for the alignment of what follows
      } else {
        offset_[r] = offsets.back();
        offsets.pop_back();
      }
      ending.emplace(last_[r], r);
    }
    code_.register_bytes = used;
  }

  void rewrite() {
    for (Operand& o : code_.more)
      if (o.bank == 0) o.offset = offset_[o.offset];
    for (Instruction& i : code_.instructions) {
      if (i.guarded) i.guard = offset_[i.guard];
      if (i.count > Instruction::inline_operands) continue;
      for (unsigned k = 0; k < i.count; ++k)
        if (i.op[k].bank == 0) i.op[k].offset = offset_[i.op[k].offset];
    }
  }

  Code& code_;
  const std::vector<uint8_t>& bytes_;
  const size_t words_;
  std::vector<Piece> pieces_;
  std::vector<uint32_t> first_, last_, offset_;
};

}  // namespace

void place_registers(Code& code, const std::vector<uint8_t>& bytes, const Level& level) {
  const Handler branch = level.select(parse_form("bra")).run, indirect = level.select(parse_form("brx.idx")).run;
  Placement(code, bytes).run(branch, indirect, level.select(parse_form("exit")).run);
}

}  // namespace stator::emulator::machine
