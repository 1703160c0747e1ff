// Special registers, by the names that PTX gives them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace stator::emulator::machine {

enum class Special : uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  dynamic_smem,
  total_smem,
  workspace_high,
  workspace_low,
  zero,
  one
};

struct SpecialName {
  std::string_view name;
  Special id;
  uint8_t bytes;
};

inline constexpr std::array special_names = {
    SpecialName{"%tid.x", Special::tid_x, 4},
    SpecialName{"%tid.y", Special::tid_y, 4},
    SpecialName{"%tid.z", Special::tid_z, 4},
    SpecialName{"%ntid.x", Special::ntid_x, 4},
    SpecialName{"%ntid.y", Special::ntid_y, 4},
    SpecialName{"%ntid.z", Special::ntid_z, 4},
    SpecialName{"%ctaid.x", Special::ctaid_x, 4},
    SpecialName{"%ctaid.y", Special::ctaid_y, 4},
    SpecialName{"%ctaid.z", Special::ctaid_z, 4},
    SpecialName{"%nctaid.x", Special::nctaid_x, 4},
    SpecialName{"%nctaid.y", Special::nctaid_y, 4},
    SpecialName{"%nctaid.z", Special::nctaid_z, 4},
    SpecialName{"%laneid", Special::laneid, 4},
    SpecialName{"%warpid", Special::warpid, 4},
    SpecialName{"%nwarpid", Special::nwarpid, 4},
    SpecialName{"%smid", Special::smid, 4},
    SpecialName{"%nsmid", Special::nsmid, 4},
    SpecialName{"%gridid", Special::gridid, 8},
    SpecialName{"%clock", Special::clock, 4},
    SpecialName{"%clock_hi", Special::clock_hi, 4},
    SpecialName{"%clock64", Special::clock64, 8},
    SpecialName{"%globaltimer", Special::globaltimer, 8},
    SpecialName{"%globaltimer_lo", Special::globaltimer_lo, 4},
    SpecialName{"%globaltimer_hi", Special::globaltimer_hi, 4},
    SpecialName{"%lanemask_eq", Special::lanemask_eq, 4},
    SpecialName{"%lanemask_le", Special::lanemask_le, 4},
    SpecialName{"%lanemask_lt", Special::lanemask_lt, 4},
    SpecialName{"%lanemask_ge", Special::lanemask_ge, 4},
    SpecialName{"%lanemask_gt", Special::lanemask_gt, 4},
    SpecialName{"%dynamic_smem_size", Special::dynamic_smem, 4},
    SpecialName{"%total_smem_size", Special::total_smem, 4},
    // The address of a cooperative grid's workspace, by which its blocks wait for each other; else zero.
    SpecialName{"%envreg1", Special::workspace_high, 4},
    SpecialName{"%envreg2", Special::workspace_low, 4},
    // Of a launch without clusters.
    SpecialName{"%is_explicit_cluster", Special::zero, 0},
    SpecialName{"%cluster_ctarank", Special::zero, 4},
    SpecialName{"%cluster_ctaid.x", Special::zero, 4},
    SpecialName{"%cluster_nctarank", Special::one, 4},
    SpecialName{"%cluster_nctaid.x", Special::one, 4},
};

}  // namespace stator::emulator::machine
