#include "server/cli/program_kernels.h"

#include "analysis/guard/guard.h"

#include <algorithm>

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;

/// Least time of a launch by the bytes and operations that its task needs, at the device's measured rates.
std::optional<double> floor_ns(const model::Task &task, const std::optional<model::DeviceInfo> &device) {
  if (!device)
    return std::nullopt;
  double longest_s = 0;
  const auto add = [&](const std::optional<symbolic::Expression> &work, const std::optional<double> &rate) {
    if (const auto amount = work ? work->evaluate(task.sizes) : fail("not known"); amount && rate && *rate > 0)
      longest_s = std::max(longest_s, static_cast<double>(*amount) / *rate);
  };
  add(task.work.bytes, device->copy_bytes_per_s);
  add(task.work.flops, device->fp32_flops_per_s);
  return longest_s > 0 ? std::optional(longest_s * 1e9) : std::nullopt;
}

KernelSource source_of(const Run &run, const analysis::Kernel &kernel, const fs::path &path) {
  KernelSource source{.path = path,
                      .qualified_name = kernel.qualified_name,
                      .inferred = kernel.task.inferred,
                      .why_not = {},
                      .floor_ns = std::nullopt};
  if (source.inferred)
    source.floor_ns = floor_ns(kernel.task.task, run.report.device);
  else if (kernel.launches.empty())
    source.why_not = "its launch is not in " + path.filename().string();
  else if (!kernel.slice_error.empty())
    source.why_not = "it cannot be cut out of its file: " + kernel.slice_error;
  else
    source.why_not = "its task is not known: " + joined(kernel.task.missing, "; ", &analysis::MissingFact::question);
  return source;
}

/// The kernels of all files by their names. Of several with one name, the first whose task is known.
std::map<std::string, KernelSource> sources_by_name(Run &run, const std::vector<fs::path> &files) {
  std::map<std::string, KernelSource> found;
  for (const fs::path &file : files) {
    const auto input = run.reader.read(file);
    if (!input) {
      add_failure(run, input.error());
      continue;
    }
    if (const analysis::Diagnostic *reason = analysis::why_not_analysed(input->facts))
      add_failure(run, {file.string() + ": " + reason->message, {}});
    for (const analysis::Kernel &kernel : input->facts.kernels) {
      KernelSource source = source_of(run, kernel, fs::absolute(file).lexically_normal());
      const auto [known, is_new] = found.try_emplace(kernel.name, source);
      if (!is_new && !known->second.inferred && source.inferred)
        known->second = std::move(source);
    }
  }
  return found;
}

} // namespace

double could_save_ns(const LaunchedKernel &kernel) { return kernel.reported.total_ns * kernel.reported.could_save; }

std::vector<LaunchedKernel> launched_kernels(Run &run, const program::RunTimes &times, std::optional<double> run_s,
                                             const std::vector<fs::path> &sources, const fs::path &folder) {
  const auto known = sources_by_name(run, sources);
  std::vector<LaunchedKernel> kernels;
  for (const program::KernelTime &time : times.kernels) {
    LaunchedKernel kernel;
    ProgramKernel &reported = kernel.reported;
    reported.name = time.name;
    reported.launches = time.launches;
    reported.total_ns = time.total_ns;
    reported.gpu_share = times.gpu_ns() > 0 ? time.total_ns / times.gpu_ns() : 0;
    if (run_s && *run_s > 0)
      reported.run_share = std::min(time.total_ns * 1e-9 / *run_s, 1.0);
    if (const auto source = known.find(time.name); source != known.end()) {
      kernel.source = source->second;
      reported.file = kernel.source->path.lexically_relative(folder).string();
      reported.could_save = program::possible_saving(time.mean_ns(), kernel.source->floor_ns);
    }
    if (!kernel.source)
      reported.why = "its source is not among the folder's CUDA sources";
    else if (reported.gpu_share < kLeastShare)
      reported.why = "it has under " + printed("%.0f%%", 100 * kLeastShare) + " of the GPU time";
    else if (!kernel.source->inferred)
      reported.state = ProgramKernel::State::Failed, reported.why = kernel.source->why_not;
    kernels.push_back(std::move(kernel));
  }
  std::ranges::stable_sort(kernels, std::greater(), could_save_ns);
  return kernels;
}

} // namespace warpwright::cli
