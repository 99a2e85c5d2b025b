#include "generator/search/kernel_numbers.h"

#include "analysis/guard/guard.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpwright::search {
namespace {

constexpr std::array<std::string_view, 4> kPatterns{"coalesced", "broadcast", "strided",
                                                    "irregular"};
constexpr std::array<std::string_view, 9> kComputations{
    "matmul",    "transpose", "softmax", "block_reduction", "row_reduction",
    "histogram", "stencil",   "matvec",  "elementwise"};

/// Name without template arguments and namespaces: "reduce" of "ns::reduce<float, 256>".
std::string plain_name(std::string name) {
  name = name.substr(0, name.find('<'));
  const std::size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

void count_access(KernelNumbers &numbers, const analysis::Access &access) {
  const bool is_shared = access.space == analysis::MemorySpace::Shared;
  if (!is_shared && access.space != analysis::MemorySpace::Global)
    return;
  const std::string space = is_shared ? "shared" : "global";
  const std::string use = access.is_atomic ? "atomics" : access.is_write ? "writes" : "reads";
  const std::string pattern(kPatterns[std::size_t(access.pattern)]);
  ++numbers[space + "_" + use];
  if (access.loop_depth > 0)
    ++numbers[space + "_" + use + "_in_loops"];
  if (!is_shared)
    ++numbers["global_" + pattern + (access.is_write ? "_writes" : "_reads")];
  if (!is_shared && access.loop_depth > 0)
    ++numbers["global_" + pattern + "_in_loops"];
  double &depth = numbers["loop_depth"];
  depth = std::max(depth, double(access.loop_depth));
  double &ways = numbers["bank_conflicts"];
  if (is_shared)
    ways = std::max(ways, double(access.bank_conflict_ways));
  double &stride = numbers["largest_stride"];
  if (!is_shared && access.stride)
    stride = std::max(stride, std::abs(double(*access.stride)));
  if (!is_shared && !access.index.symbolic_stride.empty())
    ++numbers["symbolic_strides"];
  double &bytes = numbers["element_bytes"];
  bytes = std::max(bytes, double(access.element_bytes));
}

/// All names that counts may have, with 0.
KernelNumbers zeros() {
  KernelNumbers numbers{{"loop_depth", 0},
                        {"bank_conflicts", 0},
                        {"largest_stride", 0},
                        {"symbolic_strides", 0},
                        {"element_bytes", 0}};
  for (const char *space : {"global", "shared"})
    for (const char *use : {"atomics", "writes", "reads"}) {
      numbers[std::string(space) + "_" + use] = 0;
      numbers[std::string(space) + "_" + use + "_in_loops"] = 0;
    }
  for (const std::string_view pattern : kPatterns)
    for (const char *use : {"_reads", "_writes", "_in_loops"})
      numbers["global_" + std::string(pattern) + use] = 0;
  return numbers;
}

} // namespace

KernelNumbers kernel_numbers(const analysis::Kernel &kernel) {
  KernelNumbers numbers = zeros();
  for (const analysis::Access &access : kernel.accesses)
    count_access(numbers, access);
  double bytes = 0;
  for (const analysis::SharedArray &array : kernel.shared_arrays)
    bytes += double(array.extent.value_or(0));
  numbers["shared_arrays"] = double(kernel.shared_arrays.size());
  numbers["shared_elements"] = bytes;
  numbers["barriers"] = double(kernel.barriers.size());
  numbers["divergent_barriers"] =
      double(std::ranges::count(kernel.barriers, true, &analysis::Barrier::is_divergent));
  numbers["warp_operations"] = kernel.uses_warp_operations;
  numbers["atomics"] = kernel.uses_atomics;
  numbers["divergence"] = kernel.has_divergence;
  numbers["template"] = kernel.is_template;
  numbers["pointers"] =
      double(std::ranges::count(kernel.parameters, true, &analysis::Parameter::is_pointer));
  numbers["restrict_pointers"] =
      double(std::ranges::count(kernel.parameters, true, &analysis::Parameter::is_restrict));
  numbers["written_pointers"] =
      double(std::ranges::count(kernel.parameters, true, &analysis::Parameter::is_written));
  if (kernel.arithmetic_intensity)
    numbers["intensity"] = *kernel.arithmetic_intensity;
  for (const std::string_view computation : kComputations)
    numbers["is_" + std::string(computation)] = kernel.pattern == computation;
  return numbers;
}

Result<KernelNumbers> kernel_numbers(const model::Task &task) {
  const model::LaunchStep *launch = nullptr;
  for (const model::Step &step : task.reference.steps)
    if (const auto *one = std::get_if<model::LaunchStep>(&step); one && !launch)
      launch = one;
  if (!launch)
    return fail("the reference of " + task.name + " launches no kernel");
  const analysis::FileFacts facts = analysis::analyze_guarded(
      {task.file.empty() ? "reference.cu" : task.file, task.reference.source}, {},
      {.tasks = false, .rules = false}, analysis::kCommandLimits);
  if (const analysis::Diagnostic *reason = analysis::why_not_analysed(facts))
    return fail("the reference of " + task.name + " cannot be analyzed: " + reason->message);
  const auto kernel =
      std::ranges::find(facts.kernels, plain_name(launch->kernel), &analysis::Kernel::name);
  if (kernel == facts.kernels.end())
    return fail("the reference of " + task.name + " has no kernel " + launch->kernel);
  return kernel_numbers(*kernel);
}

} // namespace warpwright::search
