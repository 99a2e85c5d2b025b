// Executor of exports, which starts kernels with the driver's functions. The runner has its own
// executor (runner/torch/executor.h). Thread: any that holds the GIL.
#pragma once

#include "objects.h"

#include <algorithm>
#include <cstring>
#include <deque>

namespace warpwright {

/// Tiles of an array, or of a window's positions on it, and the CUtensorMap of them at the last
/// call's address (CUDA driver API, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col).
struct alignas(64) TensorMap {
  using Encode = int (*)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
                         const uint32_t *, const uint32_t *, int, int, int, int);
  using EncodeWindow = int (*)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
                               const int *, const int *, uint32_t, uint32_t, const uint32_t *, int,
                               int, int, int);
  unsigned char encoded[128] = {};
  uint64_t address = 0; ///< of `encoded`
  int dtype = 0, swizzle = 0;
  uint32_t rank = 0, box[5] = {};
  uint64_t extents[5] = {}, strides[5] = {}; ///< strides in bytes, without the innermost
  bool has_window = false;
  int first[3] = {}, last[3] = {}; ///< corners of the window's positions, columns first
  uint32_t steps[5] = {1, 1, 1, 1, 1};

  int move_to(Encode encode, EncodeWindow encode_window, uint64_t to) {
    constexpr int kNoInterleave = 0, kPromote256 = 3, kFillZeros = 0, kNotSupported = 801;
    if (to == address)
      return 0;
    if (!encode || !encode_window)
      return kNotSupported;
    address = to;
    void *const memory = reinterpret_cast<void *>(to);
    return has_window ? encode_window(encoded, dtype, rank, memory, extents, strides, first, last, box[0],
                                      box[1], steps, kNoInterleave, swizzle, kPromote256, kFillZeros)
                      : encode(encoded, dtype, rank, memory, extents, strides, box, steps,
                               kNoInterleave, swizzle, kPromote256, kFillZeros);
  }
};

struct Launch {
  void *function = nullptr; ///< null: a fill
  unsigned grid[3] = {}, block[3] = {}, shared_bytes = 0;
  bool cooperative = false;        ///< all blocks at once; the caller has checked that they fit
  bool overlapped = false;         ///< may begin while the launch before it ends
  std::vector<std::string> values; ///< the arguments' bytes
  std::vector<void *> pointers;    ///< pointers to the elements of `values`
  struct Patch {
    size_t argument = 0, place = 0;
    uint64_t offset = 0; ///< in bytes
    int map = -1;        ///< index into `maps`; -1: the argument is the address itself
  };
  std::vector<Patch> patches;
  std::vector<TensorMap> maps;
  size_t place = 0, size_bytes = 0; ///< memory of a fill
  uint8_t byte = 0;
};

/// CUlaunchAttribute and CUlaunchConfig of cuda.h.
struct LaunchAttribute {
  int id = 6; ///< CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
  char padding[4] = {};
  union {
    char bytes[64] = {};
    int number;
  };
};
struct LaunchConfig {
  unsigned grid[3], block[3], shared_bytes;
  void *stream;
  LaunchAttribute *attributes;
  unsigned attribute_count;
};

struct Executor {
  using LaunchKernel = int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, void *, void **, void **);
  using LaunchTogether = int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, void *, void **);
  using LaunchConfigured = int (*)(const LaunchConfig *, void *, void **, void **);
  using Fill = int (*)(unsigned long long, unsigned char, size_t, void *);
  using SetContext = int (*)(void *);
  LaunchKernel launch_kernel = nullptr;
  LaunchTogether launch_together = nullptr;
  LaunchConfigured launch_configured = nullptr; ///< null: the driver is older than CUDA 11.8
  Fill fill = nullptr;
  SetContext set_context = nullptr;
  TensorMap::Encode encode_map = nullptr; ///< null: the driver has no tensor maps
  TensorMap::EncodeWindow encode_window = nullptr;
  void *context = nullptr; ///< context of the kernels' device
  size_t places = 0;
  std::deque<std::vector<Launch>> groups;
};

inline int start_launch(const Executor &executor, Launch &launch, const uint64_t *addresses) {
  void *stream = reinterpret_cast<void *>(addresses[executor.places]);
  if (!launch.function)
    return executor.fill(addresses[launch.place], launch.byte, launch.size_bytes, stream);
  for (const Launch::Patch &patch : launch.patches) {
    const uint64_t address = addresses[patch.place] + patch.offset;
    if (patch.map >= 0) {
      TensorMap &map = launch.maps[static_cast<size_t>(patch.map)];
      if (const int status = map.move_to(executor.encode_map, executor.encode_window, address))
        return status;
      launch.pointers[patch.argument] = map.encoded;
      continue;
    }
    std::memcpy(launch.pointers[patch.argument], &address, sizeof address);
  }
  if (launch.cooperative)
    return executor.launch_together(launch.function, launch.grid[0], launch.grid[1], launch.grid[2],
                                    launch.block[0], launch.block[1], launch.block[2],
                                    launch.shared_bytes, stream, launch.pointers.data());
  if (launch.overlapped && executor.launch_configured) {
    LaunchAttribute overlapped;
    overlapped.number = 1;
    const LaunchConfig config{{launch.grid[0], launch.grid[1], launch.grid[2]},
                              {launch.block[0], launch.block[1], launch.block[2]},
                              launch.shared_bytes,
                              stream,
                              &overlapped,
                              1};
    return executor.launch_configured(&config, launch.function, launch.pointers.data(), nullptr);
  }
  return executor.launch_kernel(launch.function, launch.grid[0], launch.grid[1], launch.grid[2],
                                launch.block[0], launch.block[1], launch.block[2],
                                launch.shared_bytes, stream, launch.pointers.data(), nullptr);
}

inline int32_t start_by_driver(int64_t handle, int64_t group, const uint64_t *addresses) {
  constexpr int kInvalidContext = 201; // CUDA_ERROR_INVALID_CONTEXT: the thread has no context yet
  auto &executor = *reinterpret_cast<Executor *>(handle);
  for (Launch &launch : executor.groups[static_cast<size_t>(group)]) {
    int status = start_launch(executor, launch, addresses);
    if (status == kInvalidContext && executor.set_context(executor.context) == 0)
      status = start_launch(executor, launch, addresses);
    if (status != 0)
      return status;
  }
  return 0;
}

/// @param description (CUtensorMapDataType, extents, strides in bytes without the innermost, box,
///        CUtensorMapSwizzle), with a window also its first and last positions and its steps
inline TensorMap map_of(PyObject *description) {
  TensorMap map;
  map.dtype = static_cast<int>(integer_at(description, 0));
  map.swizzle = static_cast<int>(integer_at(description, 4));
  const std::vector<int64_t> extents = integers(item(description, 1).get()),
                             strides = integers(item(description, 2).get()),
                             box = integers(item(description, 3).get());
  map.rank = static_cast<uint32_t>(extents.size());
  std::copy(extents.begin(), extents.end(), map.extents);
  std::copy(strides.begin(), strides.end(), map.strides);
  std::copy(box.begin(), box.end(), map.box);
  map.has_window = length(description) > 5;
  if (map.has_window) {
    const std::vector<int64_t> first = integers(item(description, 5).get()),
                               last = integers(item(description, 6).get()),
                               steps = integers(item(description, 7).get());
    std::copy(first.begin(), first.end(), map.first);
    std::copy(last.begin(), last.end(), map.last);
    std::copy(steps.begin(), steps.end(), map.steps + 1); // of the channels 1
  }
  return map;
}

/// @param description ("launch", function, grid, block, shared bytes, [bytes or (place, offset in
///        bytes) or (place, offset in bytes, map)], cooperative, overlapped) or ("fill", place, byte, bytes)
inline Launch launch_of(PyObject *description) {
  Launch launch;
  if (text(item(description, 0).get()) == "fill") {
    launch.place = static_cast<size_t>(integer_at(description, 1));
    launch.byte = static_cast<uint8_t>(integer_at(description, 2));
    launch.size_bytes = static_cast<size_t>(integer_at(description, 3));
    return launch;
  }
  launch.function = reinterpret_cast<void *>(integer_at(description, 1));
  for (Py_ssize_t axis = 0; axis < 3; ++axis) {
    launch.grid[axis] = static_cast<unsigned>(integer_at(item(description, 2).get(), axis));
    launch.block[axis] = static_cast<unsigned>(integer_at(item(description, 3).get(), axis));
  }
  launch.shared_bytes = static_cast<unsigned>(integer_at(description, 4));
  launch.cooperative = integer_at(description, 6) != 0;
  launch.overlapped = integer_at(description, 7) != 0;
  const Object arguments = item(description, 5);
  for (Py_ssize_t i = 0; i < length(arguments.get()); ++i) {
    const Object argument = item(arguments.get(), i);
    if (PyBytes_Check(argument.get())) {
      launch.values.emplace_back(PyBytes_AS_STRING(argument.get()),
                                 PyBytes_GET_SIZE(argument.get()));
    } else {
      launch.values.emplace_back(sizeof(uint64_t), '\0');
      launch.patches.push_back({launch.values.size() - 1,
                                static_cast<size_t>(integer_at(argument.get(), 0)),
                                static_cast<uint64_t>(integer_at(argument.get(), 1))});
      if (length(argument.get()) > 2) {
        launch.patches.back().map = static_cast<int>(launch.maps.size());
        launch.maps.push_back(map_of(item(argument.get(), 2).get()));
      }
    }
  }
  return launch;
}

} // namespace warpwright
