#include "trainer/report/event_file.h"

#include <array>
#include <bit>
#include <cctype>
#include <cstring>
#include <filesystem>

namespace warpwright::trainer {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit)
      value = value & 1 ? (value >> 1) ^ 0x82f63b78u : value >> 1;
    table[i] = value;
  }
  return table;
}();

template <class Integer>
std::string little_endian(Integer value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof value; ++i)
    bytes += static_cast<char>((value >> (8 * i)) & 0xff);
  return bytes;
}

std::uint32_t masked(std::uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8u; }

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7)
    bytes += static_cast<char>(0x80 | (value & 0x7f));
  return bytes + static_cast<char>(value);
}

enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

std::string key(int field, WireType type) {
  return varint(static_cast<std::uint64_t>(field << 3 | type));
}

std::string bytes_field(int field, std::string_view data) {
  return key(field, kBytes) + varint(data.size()) + std::string(data);
}

std::string header_of(double wall_time_s) {
  return key(1, kFixed64) + little_endian(std::bit_cast<std::uint64_t>(wall_time_s));
}

/// Folder name of a label: "rl contrastive (run 2)" -> "rl-contrastive-run-2".
std::string folder_name(const std::string &label) {
  std::string name;
  for (const char c : label)
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.')
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  while (name.ends_with('-'))
    name.pop_back();
  return name;
}

} // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (const char c : bytes)
    crc = kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

std::string tensorboard_record(std::string_view data) {
  const std::string length = little_endian(static_cast<std::uint64_t>(data.size()));
  return length + little_endian(masked(crc32c(length))) + std::string(data) +
         little_endian(masked(crc32c(data)));
}

std::string scalar_event(double wall_time_s, std::int64_t step,
                         const std::map<std::string, double> &scalars) {
  std::string summary;
  for (const auto &[tag, value] : scalars)
    summary +=
        bytes_field(1, bytes_field(1, tag) + key(2, kFixed32) +
                           little_endian(std::bit_cast<std::uint32_t>(static_cast<float>(value))));
  return header_of(wall_time_s) + key(2, kVarint) + varint(static_cast<std::uint64_t>(step)) +
         bytes_field(5, summary);
}

Result<int> write_event_files(const TrainingLog &log, const std::string &folder) {
  int files = 0;
  for (const StageLog &stage : log.stages) {
    if (stage.steps.empty())
      continue;
    const fs::path place = fs::path(folder) / folder_name(stage.label);
    std::error_code error;
    fs::create_directories(place, error);
    const std::int64_t first = stage.steps.front().time_s;
    const fs::path path = place / ("events.out.tfevents." + std::to_string(first) + ".warpwright");
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    const auto start = static_cast<double>(first);
    file << tensorboard_record(header_of(start) + bytes_field(3, "brain.Event:2"));
    for (const StepPoint &point : stage.steps) {
      std::map<std::string, double> scalars;
      for (const auto &[name, value] : point.values)
        scalars[stage.stage + "/" + name] = value;
      for (const auto &[name, count] : point.techniques)
        scalars["techniques/" + name] = count;
      file << tensorboard_record(
          scalar_event(static_cast<double>(point.time_s), point.step, scalars));
    }
    if (!file.flush())
      return fail("cannot write " + path.string(),
                  "Is the folder writable, and the disk not full?");
    ++files;
  }
  return files;
}

} // namespace warpwright::trainer
