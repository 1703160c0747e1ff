#include "emulator/runtime/fat_binary.hpp"

#include <dlfcn.h>
#include <elf.h>

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace stator::emulator::runtime {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint32_t fat_magic = 0xba55ed50;
constexpr uint64_t lz4_flag = 0x2000, zstd_flag = 0x8000;

struct FatHeader {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;  // of the images
};

struct ImageHeader {
  uint16_t kind, version;
  uint32_t header_bytes;
  uint64_t stored_bytes;  // padded
  uint32_t compressed_bytes, options;
  uint32_t format, architecture;
  uint64_t unused;
  uint64_t flags;
  uint64_t unused2;
  uint64_t bytes;  // of compressed content
};
static_assert(sizeof(ImageHeader) == 64);

constexpr uint16_t ptx_kind = 1, code_kind = 2;

struct Image {
  ImageHeader header;
  Bytes stored;
};

std::vector<Image> images_of(const void* fat_binary, uint16_t kind) {
  std::vector<Image> found;
  FatHeader fat;
  std::memcpy(&fat, fat_binary, sizeof fat);
  if (fat.magic != fat_magic) return found;
  const auto* const start = static_cast<const std::byte*>(fat_binary) + fat.header_bytes;
  for (uint64_t at = 0; at + sizeof(ImageHeader) <= fat.bytes;) {
    ImageHeader header;
    std::memcpy(&header, start + at, sizeof header);
    const uint64_t length = header.header_bytes + header.stored_bytes;
    if (length == 0 || length > fat.bytes - at) break;
    if (header.kind == kind) found.push_back({header, {start + at + header.header_bytes, header.stored_bytes}});
    at += length;
  }
  return found;
}

// A block of LZ4 that becomes exactly `size` characters; nothing if it is malformed.
std::optional<std::string> decode_lz4(Bytes block, size_t size) {
  std::string out;
  out.reserve(size);
  size_t at = 0;
  const auto byte = [&] { return at < block.size() ? std::to_integer<size_t>(block[at++]) : 0; };
  // Four bits of the token, and bytes that are added as long as they are 255.
  const auto extended = [&](size_t length) {
    if (length < 15) return length;
    for (size_t more = 255; more == 255 && at < block.size();) length += more = byte();
    return length;
  };
  while (at < block.size()) {
    const size_t token = byte();
    const size_t literals = extended(token >> 4);
    if (literals > block.size() - at || literals > size - out.size()) return std::nullopt;
    out.append(reinterpret_cast<const char*>(block.data()) + at, literals);
    at += literals;
    if (at == block.size()) break;  // the last sequence has no match
    const size_t low = byte(), distance = low | byte() << 8;
    const size_t match = extended(token & 15) + 4;
    if (distance == 0 || distance > out.size() || match > size - out.size()) return std::nullopt;
    for (size_t i = 0; i < match; ++i) out.push_back(out[out.size() - distance]);  // the ranges may overlap
  }
  if (out.size() != size) return std::nullopt;
  return out;
}

const Image* best(const std::vector<Image>& images, uint32_t capability) {
  const Image* chosen = nullptr;
  for (const Image& image : images)
    if (image.header.architecture <= capability && (!chosen || image.header.architecture > chosen->header.architecture))
      chosen = &image;
  return chosen;
}

// Of a cubin, which is an ELF file: section .nv.info has records of a format, an attribute and a size.
struct Info {
  uint8_t format, attribute;
  uint16_t bytes;
};
constexpr uint8_t sized_format = 4, register_count = 0x2f, stack_bytes = 0x12;

template <class T>
std::optional<T> read(Bytes file, uint64_t at) {
  if (at > file.size() || sizeof(T) > file.size() - at) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

std::string name_at(Bytes file, const Elf64_Shdr& strings, uint32_t offset) {
  std::string name;
  for (uint64_t at = strings.sh_offset + offset; at < file.size() && file[at] != std::byte{0}; ++at)
    name.push_back(char(file[at]));
  return name;
}

std::unordered_map<std::string, MachineCode> kernels_in(Bytes file, uint32_t architecture) {
  std::unordered_map<std::string, MachineCode> found;
  const auto header = read<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return found;
  const auto section = [&](uint32_t i) {
    return read<Elf64_Shdr>(file, header->e_shoff + uint64_t(i) * header->e_shentsize).value_or(Elf64_Shdr{});
  };
  const Elf64_Shdr names = section(header->e_shstrndx);
  for (uint32_t i = 0; i < header->e_shnum; ++i) {
    const Elf64_Shdr info = section(i);
    if (name_at(file, names, info.sh_name) != ".nv.info") continue;
    const Elf64_Shdr symbols = section(info.sh_link);
    const Elf64_Shdr strings = section(symbols.sh_link);
    for (uint64_t at = info.sh_offset; at + sizeof(Info) <= info.sh_offset + info.sh_size;) {
      const auto record = read<Info>(file, at);
      if (!record) break;
      at += sizeof(Info);
      if (record->format != sized_format) continue;
      const auto symbol_index = read<uint32_t>(file, at), count = read<uint32_t>(file, at + 4);
      at += record->bytes;
      const bool registers = record->attribute == register_count;
      if (!(registers || record->attribute == stack_bytes) || !symbol_index || !count) continue;
      const auto symbol = read<Elf64_Sym>(file, symbols.sh_offset + *symbol_index * sizeof(Elf64_Sym));
      if (!symbol) continue;
      MachineCode& code = found[name_at(file, strings, symbol->st_name)];
      code.architecture = architecture;
      (registers ? code.registers : code.local_bytes) = *count;
    }
  }
  return found;
}

// By the system's library, which is opened where something is compressed so.
std::optional<std::string> decode_zstd(Bytes in, uint64_t bytes, std::string* reason) {
  using Decompress = size_t (*)(void*, size_t, const void*, size_t);  // of zstd.h; of an error a size that is too large
  static void* const library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  static void* const function = library ? dlsym(library, "ZSTD_decompress") : nullptr;
  if (!function) {
    *reason =
        "The fat binary is compressed as zstd, and there is no libzstd.so.1 to read it with; "
        "install it, or build with --compress-mode=speed.";
    return std::nullopt;
  }
  std::string out(bytes, '\0');
  if (reinterpret_cast<Decompress>(function)(out.data(), out.size(), in.data(), in.size()) != bytes)
    return std::nullopt;
  return out;
}

// What the image holds, decompressed; nothing, with the reason, where that cannot be.
std::optional<std::string> content_of(const Image& image, std::string* reason) {
  const ImageHeader& header = image.header;
  if (!(header.flags & (lz4_flag | zstd_flag)))
    return std::string(reinterpret_cast<const char*>(image.stored.data()), image.stored.size());
  std::optional<std::string> decoded;
  reason->clear();
  if (header.compressed_bytes <= image.stored.size()) {
    const Bytes stored = image.stored.first(header.compressed_bytes);
    decoded = header.flags & zstd_flag ? decode_zstd(stored, header.bytes, reason) : decode_lz4(stored, header.bytes);
  }
  if (decoded || !reason->empty()) return decoded;
  *reason = "The fat binary's compressed content is malformed.";
  return std::nullopt;
}

}  // namespace

bool is_fat_binary(const void* image) {
  uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  return magic == fat_magic;
}

bool ptx_of(const void* fat_binary, uint32_t capability, std::string* text, std::string* reason) {
  const std::vector<Image> images = images_of(fat_binary, ptx_kind);
  const Image* const image = best(images, capability);
  if (!image) {
    *reason = "The fat binary has no PTX for compute capability " + std::to_string(capability / 10) + "." +
              std::to_string(capability % 10) + " or below.";
    return false;
  }
  std::optional<std::string> content = content_of(*image, reason);
  if (!content) return false;
  *text = std::move(*content);
  text->resize(std::min(text->find('\0'), text->size()));  // padding
  return true;
}

std::unordered_map<std::string, MachineCode> machine_code_of(const void* fat_binary, uint32_t capability) {
  const std::vector<Image> images = images_of(fat_binary, code_kind);
  const Image* chosen = best(images, capability);
  for (const Image& image : images)
    if (!chosen ||
        (chosen->header.architecture > capability && image.header.architecture < chosen->header.architecture))
      chosen = &image;
  std::string reason;
  const std::optional<std::string> code = chosen ? content_of(*chosen, &reason) : std::nullopt;
  if (!code) return {};
  return kernels_in(std::as_bytes(std::span(*code)), chosen->header.architecture);
}

}  // namespace stator::emulator::runtime
