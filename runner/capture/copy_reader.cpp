// The table of the driver's functions that copy or fill memory, and where their arguments lie.
//
// The forms without _v2 of functions that have it are left out: they have 32-bit sizes, and no
// program since CUDA 3.2 calls them. Copies of arrays and batches of copies are recorded by name,
// without sizes.
#include "runner/capture/copy_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace warpwright::capture {
namespace {

/// The layout of a function's arguments.
enum class Form {
  HostToDevice,   ///< to, from, bytes
  DeviceToHost,   ///< the same
  DeviceToDevice, ///< the same
  Linear,         ///< the same, of any direction
  Peer,           ///< to, its context, from, its context, bytes
  Box2D,          ///< a CUDA_MEMCPY2D
  Box3D,          ///< a CUDA_MEMCPY3D
  Box3DPeer,      ///< a CUDA_MEMCPY3D_PEER
  Fill8,          ///< to, value, count; the number is the value's bits
  Fill16,
  Fill32,
  FillRows8, ///< to, pitch, value, width, height
  FillRows16,
  FillRows32,
  Named, ///< read by its name only
};

/// Ids (CUpti_driver_api_trace_cbid) of a function and its variants; 0: there is none.
struct Row {
  Form form;
  std::uint32_t plain, plain_ptds; ///< without a stream
  std::uint32_t async, async_ptsz; ///< with a stream as the last argument
};

constexpr Row kRows[] = {
    {Form::HostToDevice, 276, 397, 277, 421},   // cuMemcpyHtoD_v2
    {Form::DeviceToHost, 278, 398, 279, 422},   // cuMemcpyDtoH_v2
    {Form::DeviceToDevice, 280, 399, 281, 423}, // cuMemcpyDtoD_v2
    {Form::Linear, 305, 408, 306, 418},         // cuMemcpy
    {Form::Peer, 318, 409, 319, 426},           // cuMemcpyPeer
    {Form::Box2D, 287, 405, 289, 424},          // cuMemcpy2D_v2
    {Form::Box2D, 288, 406, 0, 0},              // cuMemcpy2DUnaligned_v2
    {Form::Box3D, 290, 407, 291, 425},          // cuMemcpy3D_v2
    {Form::Box3DPeer, 320, 410, 321, 427},      // cuMemcpy3DPeer
    {Form::Fill8, 249, 411, 216, 428},          // cuMemsetD8_v2
    {Form::Fill16, 250, 412, 218, 429},         // cuMemsetD16_v2
    {Form::Fill32, 251, 413, 220, 430},         // cuMemsetD32_v2
    {Form::FillRows8, 252, 414, 222, 431},      // cuMemsetD2D8_v2
    {Form::FillRows16, 253, 415, 224, 432},     // cuMemsetD2D16_v2
    {Form::FillRows32, 254, 416, 226, 433},     // cuMemsetD2D32_v2
    {Form::Named, 282, 403, 0, 0},              // cuMemcpyAtoH_v2
    {Form::Named, 283, 420, 0, 0},              // cuMemcpyAtoHAsync_v2
    {Form::Named, 284, 401, 0, 0},              // cuMemcpyAtoD_v2
    {Form::Named, 285, 400, 0, 0},              // cuMemcpyDtoA_v2
    {Form::Named, 286, 404, 0, 0},              // cuMemcpyAtoA_v2
    {Form::Named, 292, 402, 0, 0},              // cuMemcpyHtoA_v2
    {Form::Named, 293, 419, 0, 0},              // cuMemcpyHtoAAsync_v2
    {Form::Named, 776, 777, 796, 797},          // cuMemcpyBatchAsync
    {Form::Named, 778, 779, 798, 799},          // cuMemcpy3DBatchAsync
};

constexpr auto kIds = [] {
  std::array<std::uint32_t, 4 * std::size(kRows)> ids{};
  auto id = ids.begin();
  for (const Row &row : kRows)
    for (const std::uint32_t one : {row.plain, row.plain_ptds, row.async, row.async_ptsz})
      *id++ = one;
  return ids;
}();

/// Reads the word at an index; each argument takes eight bytes, smaller ones with padding.
std::uint64_t word(const void *arguments, std::size_t index) {
  std::uint64_t value = 0;
  std::memcpy(&value, static_cast<const char *>(arguments) + 8 * index, sizeof value);
  return value;
}

/// CUmemorytype.
enum : std::uint32_t { kHost = 1, kDevice = 2, kArray = 3 };

std::string direction_of(std::uint32_t from, std::uint32_t to) {
  const auto name = [](std::uint32_t type) {
    return type == kHost ? "host" : type == kDevice ? "device" : type == kArray ? "array" : "any";
  };
  return std::string(name(from)) + " to " + name(to);
}

struct Reading {
  Copy copy;
  std::size_t stream = 0; ///< index of the stream's word, where there is one
};

void read_box(Reading &reading, const void *arguments, bool is_3d, bool is_peer) {
  reading.stream = 1;
  const auto *box = reinterpret_cast<const char *>(word(arguments, 0));
  if (!box)
    return;
  std::uint32_t from = 0, to = 0;
  std::memcpy(&from, box + (is_3d ? 32 : 16), sizeof from);
  std::memcpy(&to, box + (is_3d ? 120 : 72), sizeof to);
  // The peer form has the same members at the same places.
  reading.copy.direction = is_peer ? "peer to peer" : direction_of(from, to);
  reading.copy.size_bytes =
      is_3d ? word(box, 22) * word(box, 23) * word(box, 24) : word(box, 14) * word(box, 15);
}

void read_linear(Reading &reading, const void *arguments, const char *direction,
                 const DriverFacts &facts) {
  reading.copy.direction = direction;
  reading.copy.to = facts.pointer_at(word(arguments, 0));
  reading.copy.from = facts.pointer_at(word(arguments, 1));
  reading.copy.size_bytes = word(arguments, 2);
  reading.stream = 3;
}

void read_fill(Reading &reading, const void *arguments, std::uint64_t value_bytes, bool rows,
               const DriverFacts &facts) {
  reading.copy.direction = "fill";
  reading.copy.to = facts.pointer_at(word(arguments, 0));
  reading.copy.size_bytes =
      value_bytes * (rows ? word(arguments, 3) * word(arguments, 4) : word(arguments, 2));
  reading.stream = rows ? 5 : 3;
}

Reading read(Form form, const void *arguments, const DriverFacts &facts) {
  Reading reading;
  switch (form) {
  case Form::HostToDevice:
    read_linear(reading, arguments, "host to device", facts);
    break;
  case Form::DeviceToHost:
    read_linear(reading, arguments, "device to host", facts);
    break;
  case Form::DeviceToDevice:
    read_linear(reading, arguments, "device to device", facts);
    break;
  case Form::Linear:
    read_linear(reading, arguments, "any to any", facts);
    break;
  case Form::Peer:
    reading.copy.direction = "peer to peer";
    reading.copy.to = facts.pointer_at(word(arguments, 0));
    reading.copy.from = facts.pointer_at(word(arguments, 2));
    reading.copy.size_bytes = word(arguments, 4);
    reading.stream = 5;
    break;
  case Form::Box2D:
  case Form::Box3D:
  case Form::Box3DPeer:
    read_box(reading, arguments, form != Form::Box2D, form == Form::Box3DPeer);
    break;
  case Form::Fill8:
    read_fill(reading, arguments, 1, false, facts);
    break;
  case Form::Fill16:
    read_fill(reading, arguments, 2, false, facts);
    break;
  case Form::Fill32:
    read_fill(reading, arguments, 4, false, facts);
    break;
  case Form::FillRows8:
    read_fill(reading, arguments, 1, true, facts);
    break;
  case Form::FillRows16:
    read_fill(reading, arguments, 2, true, facts);
    break;
  case Form::FillRows32:
    read_fill(reading, arguments, 4, true, facts);
    break;
  case Form::Named:
    break;
  }
  return reading;
}

} // namespace

std::vector<std::uint32_t> copy_calls() {
  std::vector<std::uint32_t> ids(kIds.begin(), kIds.end());
  std::erase(ids, 0u);
  return ids;
}

std::optional<CopyCall> read_copy(std::uint32_t id, const char *name, const void *arguments,
                                  const DriverFacts &facts) {
  const auto found = std::ranges::find(kIds, id);
  if (id == 0 || found == kIds.end())
    return std::nullopt;
  const Row &row = kRows[(found - kIds.begin()) / 4];
  Reading reading = read(row.form, arguments, facts);
  reading.copy.call = name ? name : "";
  CopyCall call{.copy = std::move(reading.copy),
                .stream = nullptr,
                .per_thread = id == row.async_ptsz,
                .has_stream = row.form != Form::Named && (id == row.async || id == row.async_ptsz)};
  if (call.has_stream)
    call.stream = reinterpret_cast<cuda::CUstream>(word(arguments, reading.stream));
  return call;
}

} // namespace warpwright::capture
