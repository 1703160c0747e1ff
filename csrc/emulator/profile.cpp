#include "emulator/profile.hpp"

#include <array>

namespace stator::emulator {
namespace {

constexpr uint64_t MiB = 1 << 20, GiB = 1 << 30;
constexpr uint32_t KiB = 1024;

// Sources. a100, h100: NVIDIA's papers on the two architectures (multiprocessors, L2, boost clock) and the data sheets
// (memory, of which clock and bus make the bandwidth: 2 x 1593 MHz x 5120 bits is 2,039 GB/s, 2 x 2619 MHz x 5120 bits
// 3,352 GB/s). h200: as h100, and the data sheet (141 GB; 2 x 3201 MHz x 6144 bits is 4,917 GB/s, which it rounds
// to 4.8 TB/s). laptop: NVIDIA's paper on Ada and the table of GeForce laptops (3072 lanes in 24 multiprocessors, 2370
// MHz, 8 GB of GDDR6 at 16 Gbit/s on 128 bits, which is 256 GB/s; 32 MB of L2 in AD107). Limits of multiprocessors and
// blocks: the table of technical specifications per compute capability in the CUDA C++ Programming Guide. Kernels of
// compute capability 7.0 and above take 32,764 bytes of parameters from CUDA 12.1 on; before it, 4,096. wsl: the CUDA
// on WSL User Guide, which lists concurrent access to managed memory among what Linux has and WSL 2 lacks.
constexpr Profile laptop = {"laptop",  "NVIDIA GeForce RTX 4060 Laptop GPU",
                            8,         9,
                            24,        8 * GiB,
                            32 * MiB,  2370000,
                            8001000,   128,
                            1536,      24,
                            100 * KiB, 48 * KiB,
                            99 * KiB,  1 * KiB,
                            32764};

constexpr Profile under_wsl(Profile profile, std::string_view name) {
  profile.name = name;
  profile.concurrent_managed_access = false;
  return profile;
}

constexpr std::array profiles = {
    Profile{"a100", "NVIDIA A100-SXM4-80GB", 8, 0, 108, 80 * GiB, 40 * MiB, 1410000, 1593000, 5120, 2048, 32, 164 * KiB,
            48 * KiB, 163 * KiB, 1 * KiB, 32764},
    Profile{"h100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 80 * GiB, 50 * MiB, 1980000, 2619000, 5120, 2048, 32, 228 * KiB,
            48 * KiB, 227 * KiB, 1 * KiB, 32764},
    Profile{"h200", "NVIDIA H200", 9, 0, 132, 141 * GiB, 50 * MiB, 1980000, 3201000, 6144, 2048, 32, 228 * KiB,
            48 * KiB, 227 * KiB, 1 * KiB, 32764},
    laptop,
    under_wsl(laptop, "wsl"),
    // One multiprocessor, little memory and an old driver: grid-stride loops iterate and limits are near.
    Profile{"one_sm", "One multiprocessor", 8, 0, 1, 1 * GiB, 1 * MiB, 1000000, 1000000, 64, 2048, 32, 164 * KiB,
            48 * KiB, 163 * KiB, 1 * KiB, 4096},
};

}  // namespace

const Profile* find_profile(std::string_view name) {
  for (const Profile& profile : profiles)
    if (profile.name == name) return &profile;
  return nullptr;
}

std::string profile_names() {
  std::string names;
  for (const Profile& profile : profiles) names += (names.empty() ? "" : ", ") + std::string(profile.name);
  return names;
}

}  // namespace stator::emulator
