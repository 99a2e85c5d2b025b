// Decoding of launch calls. A parameter's eight-byte words that lie in a live allocation are taken
// as pointers; the capture has no types of parameters.
#include "runner/capture/launch_reader.h"

#include <cstring>

namespace warpwright::capture {
namespace {

/// cuLaunchKernel_params; cuLaunchCooperativeKernel_params is the same without `extra`.
struct LaunchKernelParameters {
  cuda::CUfunction function;
  unsigned grid[3], block[3], shared_bytes;
  cuda::CUstream stream;
  void **parameters, **extra;
};

/// cuLaunchKernelEx_params.
struct LaunchKernelExParameters {
  const cuda::LaunchConfig *config;
  cuda::CUfunction function;
  void **parameters, **extra;
};

/// CU_LAUNCH_PARAM_BUFFER_POINTER and CU_LAUNCH_PARAM_BUFFER_SIZE.
const auto kBufferPointer = reinterpret_cast<void *>(1), kBufferSize = reinterpret_cast<void *>(2);
/// CUlaunchAttributeID.
enum : int { kCooperative = 2, kClusterDimension = 4 };

LaunchCall from_kernel(const LaunchKernelParameters &given, bool cooperative) {
  LaunchCall call{.function = given.function,
                  .config = {.shared_bytes = given.shared_bytes, .stream = given.stream},
                  .parameters = given.parameters,
                  .extra = cooperative ? nullptr : given.extra,
                  .cooperative = cooperative,
                  .per_thread = false};
  std::memcpy(call.config.grid, given.grid, sizeof given.grid);
  std::memcpy(call.config.block, given.block, sizeof given.block);
  return call;
}

void read_attributes(const cuda::LaunchConfig &config, Launch &launch) {
  for (unsigned i = 0; config.attributes && i < config.attribute_count; ++i) {
    const cuda::LaunchAttribute &attribute = config.attributes[i];
    if (attribute.id == kCooperative)
      launch.cooperative |= attribute.number != 0;
    if (attribute.id == kClusterDimension)
      std::memcpy(launch.cluster.data(), attribute.bytes, sizeof launch.cluster);
  }
}

/// The values of `extra` as one block of bytes; empty if it has none.
std::string_view buffer_of(void **extra) {
  const char *data = nullptr;
  std::size_t size_bytes = 0;
  for (; extra && *extra; extra += 2) {
    if (*extra == kBufferPointer)
      data = static_cast<const char *>(extra[1]);
    if (*extra == kBufferSize && extra[1])
      std::memcpy(&size_bytes, extra[1], sizeof size_bytes);
  }
  return data ? std::string_view(data, size_bytes) : std::string_view();
}

Parameter read_parameter(std::string_view bytes, const DriverFacts &facts) {
  Parameter parameter{.bytes = std::string(bytes), .pointers = {}};
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    auto pointer = facts.pointer_at(word);
    if (!pointer)
      continue;
    pointer->at = static_cast<std::uint32_t>(at);
    parameter.pointers.push_back(*std::move(pointer));
    parameter.bytes.replace(at, 8, 8, '\0');
  }
  return parameter;
}

std::optional<std::vector<Parameter>> read_parameters(const LaunchCall &call, DriverFacts &facts) {
  const auto places = facts.parameters_of(call.function);
  if (!places)
    return std::nullopt;
  const std::string_view buffer = call.parameters ? std::string_view() : buffer_of(call.extra);
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < places->size(); ++i) {
    const auto &[offset, size_bytes] = (*places)[i];
    if (call.parameters && call.parameters[i])
      parameters.push_back(
          read_parameter({static_cast<const char *>(call.parameters[i]), size_bytes}, facts));
    else if (!call.parameters && offset + size_bytes <= buffer.size())
      parameters.push_back(read_parameter(buffer.substr(offset, size_bytes), facts));
    else
      return std::nullopt;
  }
  return parameters;
}

} // namespace

std::optional<LaunchCall> launch_call(std::uint32_t id, const void *parameters) {
  std::optional<LaunchCall> call;
  switch (id) {
  case kLaunchKernel:
  case kLaunchKernelPtsz:
    call = from_kernel(*static_cast<const LaunchKernelParameters *>(parameters), false);
    break;
  case kLaunchCooperativeKernel:
  case kLaunchCooperativeKernelPtsz:
    call = from_kernel(*static_cast<const LaunchKernelParameters *>(parameters), true);
    break;
  case kLaunchKernelEx:
  case kLaunchKernelExPtsz: {
    const auto &given = *static_cast<const LaunchKernelExParameters *>(parameters);
    if (!given.config)
      return std::nullopt;
    call = LaunchCall{.function = given.function,
                      .config = *given.config,
                      .parameters = given.parameters,
                      .extra = given.extra,
                      .cooperative = false,
                      .per_thread = false};
    break;
  }
  default:
    return std::nullopt;
  }
  call->per_thread =
      id == kLaunchKernelPtsz || id == kLaunchCooperativeKernelPtsz || id == kLaunchKernelExPtsz;
  return call;
}

Launch read_launch(const LaunchCall &call, const char *symbol, DriverFacts &facts) {
  Launch launch{.kernel = symbol ? symbol : "",
                .grid = std::to_array(call.config.grid),
                .block = std::to_array(call.config.block),
                .cluster = {},
                .cooperative = call.cooperative,
                .shared_bytes = call.config.shared_bytes,
                .parameters = read_parameters(call, facts),
                .varied = false};
  read_attributes(call.config, launch);
  return launch;
}

} // namespace warpwright::capture
