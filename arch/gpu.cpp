#include "arch/gpu.h"

#include "arch/generations.h"

#include <algorithm>

namespace warpwright::arch {
namespace {

constexpr int kRegisters = 65536; ///< per multiprocessor, in every generation

const Generation &generation_of(int capability) {
  const Generation *found = &kGenerations[0];
  for (const Generation &one : kGenerations)
    if (capability >= one.first)
      found = &one;
  return *found;
}

Gpu gpu_of_capability(int capability, int multiprocessors, std::int64_t l2_bytes) {
  const Generation &generation = generation_of(capability);
  return {.capability = capability,
          .multiprocessors = multiprocessors,
          .shared_bytes_block = generation.shared_bytes_block,
          .shared_bytes_multiprocessor = generation.shared_bytes_multiprocessor,
          .registers_multiprocessor = kRegisters,
          .threads_multiprocessor = generation.threads_multiprocessor,
          .l2_bytes = l2_bytes,
          .tensor_cores = generation.tensor_cores,
          .inline_ptx = true,
          .clusters = generation.clusters,
          .vector_atomics = generation.vector_atomics,
          .overlapped_launches = generation.overlapped_launches,
          .gangs = generation.gangs,
          .rates = {}};
}

/// The CPU backend: an H200 without the features that need inline PTX, so that its plans are also valid on a GPU.
Gpu cpu() {
  Gpu gpu = *gpu_named("h200");
  gpu.inline_ptx = gpu.clusters = gpu.vector_atomics = gpu.overlapped_launches = gpu.gangs = false;
  gpu.tensor_cores = TensorCores::None;
  return gpu;
}

} // namespace

Result<Gpu> gpu_of(const model::DeviceInfo &device) {
  if (device.kind != "cuda")
    return cpu();
  const int capability = model::capability_of(device);
  if (capability == 0 || device.multiprocessors <= 0)
    return fail("the runner does not say the compute capability and the number of multiprocessors of " +
                    (device.name.empty() ? std::string("its GPU") : device.name),
                "Update the runner: it must be of this version");
  Gpu gpu = gpu_of_capability(capability, device.multiprocessors,
                              static_cast<std::int64_t>(device.l2_bytes));
  // Runners before 0.1.1 do not report these values; the generation's values then stay.
  const auto reported = [](int &field, int value) {
    if (value > 0)
      field = value;
  };
  reported(gpu.shared_bytes_block, device.shared_bytes_block);
  reported(gpu.shared_bytes_multiprocessor, device.shared_bytes_multiprocessor);
  reported(gpu.registers_multiprocessor, device.registers_multiprocessor);
  reported(gpu.threads_multiprocessor, device.threads_multiprocessor);
  return gpu;
}

Gpu gpu_or_cpu(const std::optional<model::DeviceInfo> &device) {
  return device ? gpu_of(*device).value_or(cpu()) : cpu();
}

std::optional<Gpu> gpu_named(std::string_view name) {
  if (name == "cpu")
    return cpu();
  for (const NamedGpu &one : kNamedGpus)
    if (one.name == name)
      return gpu_of_capability(one.capability, one.multiprocessors, one.l2_mib << 20);
  return std::nullopt;
}

std::vector<std::string_view> gpu_names() {
  std::vector<std::string_view> names{"cpu"};
  for (const NamedGpu &one : kNamedGpus)
    names.push_back(one.name);
  return names;
}

std::string compile_target(int capability) {
  return "sm_" + std::to_string(capability) +
         (generation_of(capability).own_instructions ? "a" : "");
}

TensorCores tensor_cores_of(int capability) { return generation_of(capability).tensor_cores; }

} // namespace warpwright::arch
