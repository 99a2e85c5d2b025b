#include "server/optimize/captured_runs.h"

#include "analysis/task/kernel_symbols.h"
#include "analysis/task/struct_fields.h"
#include "runner/capture/files/kernel_names.h"
#include "support/words.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <ranges>

namespace warpwright::server {
namespace {

namespace fs = std::filesystem;

static_assert(capture::kQuantiles == model::Distribution::kQuantiles);

bool is_above_or_same(const fs::path &above, const fs::path &below) {
  return std::mismatch(above.begin(), above.end(), below.begin(), below.end()).first == above.end();
}

/// Whether a run that was started in `folder` may be of the program that has the file.
bool may_belong(const fs::path &folder, const fs::path &file) {
  const char *home = std::getenv("HOME");
  if (folder.empty() || folder == folder.root_path() || (home && folder == fs::path(home)))
    return false; // too many programs are started there
  return is_above_or_same(folder, file.parent_path()) ||
         is_above_or_same(file.parent_path(), folder);
}

std::string command_text(const std::vector<std::string> &command) {
  constexpr std::size_t kMost = 80;
  const std::string text = joined(command, " ");
  return text.size() > kMost ? text.substr(0, kMost) + "..." : text;
}

std::shared_ptr<const CapturedRun> read(const fs::path &folder, const capture::RunFacts &facts) {
  auto run = std::make_shared<CapturedRun>();
  run->source = "the run of " + command_text(facts.command) + " on " +
                facts.started.substr(0, std::strlen("2026-11-26"));
  for (const fs::path &path : capture::process_folders(folder))
    if (auto process = capture::read_process(path)) {
      run->gpu_ns += process->process.totals.gpu_ns;
      for (auto &launch : process->launches) {
        const std::string name = capture::base_name(launch.operation.kernel);
        run->launches.emplace(name, std::move(launch));
      }
    }
  if (auto buffers = capture::read_contents(folder))
    run->buffers = *std::move(buffers);
  return run;
}

bool fits(const capture::Launch &launch, const clang::FunctionDecl &kernel) {
  if (!launch.parameters || launch.parameters->size() != kernel.getNumParams())
    return false;
  for (unsigned i = 0; i < kernel.getNumParams(); ++i) {
    const clang::QualType type = kernel.getParamDecl(i)->getType();
    if (!type->isDependentType() && !type->isIncompleteType() &&
        kernel.getASTContext().getTypeSizeInChars(type).getQuantity() !=
            static_cast<std::int64_t>((*launch.parameters)[i].bytes.size()))
      return false;
  }
  return true;
}

/// The launch with the most GPU time among those that fit the kernel and that `counts` takes; null: there is none.
const capture::Line<capture::Launch> *longest_launch(const CapturedRun &run, const clang::FunctionDecl &kernel,
                                                     const std::function<bool(const capture::Launch &)> &counts) {
  const capture::Line<capture::Launch> *best = nullptr;
  const auto [begin, end] = run.launches.equal_range(kernel.getNameAsString());
  for (auto at = begin; at != end; ++at)
    if (fits(at->second.operation, kernel) && counts(at->second.operation) &&
        (!best || at->second.statistics.total_ns > best->statistics.total_ns))
      best = &at->second;
  return best;
}

/// The fields of a struct parameter, or the parameter itself.
std::vector<analysis::StructField> parts_of(const clang::ParmVarDecl &parameter) {
  if (auto fields = analysis::struct_fields(parameter.getASTContext(), parameter))
    return *std::move(fields);
  return {{parameter.getNameAsString(), "", parameter.getType(), 0}};
}

/// The elements behind each pointer before the launch, as far as they were seen.
auto values_of(const std::vector<capture::SeenBuffer> &buffers, const capture::Launch &launch,
               const clang::FunctionDecl &kernel) {
  using enum model::Distribution::Kind;
  decltype(analysis::CapturedLaunch::values) values;
  for (const capture::SeenBuffer &buffer : buffers) {
    if (buffer.launch.kernel != launch.kernel || buffer.launch.grid != launch.grid ||
        buffer.launch.block != launch.block || buffer.parameter >= kernel.getNumParams())
      continue;
    const auto parts = parts_of(*kernel.getParamDecl(static_cast<unsigned>(buffer.parameter)));
    const auto part = std::ranges::find(parts, static_cast<std::int64_t>(buffer.at), &analysis::StructField::offset);
    if (part == parts.end() || !part->type->isPointerType())
      continue;
    for (const auto &[type, seen] : buffer.types)
      if (const auto dtype = model::dtype_from_name(type))
        values[part->name][*dtype] = {.kind = seen.order == "sorted"        ? Sorted
                                                                : seen.order == "permutation" ? Permutation
                                                                                              : Quantiles,
                                                        .quantiles = seen.quantiles};
  }
  return values;
}

} // namespace

RunsOfFile CapturedRuns::of(const std::string &file) {
  constexpr std::size_t kMostRuns = 8; // each is read whole
  fs::path captures = folder_;
  if (captures.empty()) {
    const auto own = capture::captures_folder();
    if (!own)
      return {};
    captures = *own;
  }
  return known_.with([&](auto &known) {
    std::vector<std::pair<fs::path, Known *>> found;
    std::error_code error;
    for (const fs::directory_entry &entry : fs::directory_iterator(captures, error)) {
      Known &one = known[entry.path()];
      if (!one.facts)
        if (auto facts = capture::read_run(entry.path()))
          one.facts = std::move(*facts);
      if (one.facts && may_belong(one.facts->folder, file))
        found.emplace_back(entry.path(), &one);
    }
    std::ranges::sort(found, std::ranges::greater(), [](const auto &one) {
      return std::pair(one.second->facts->started, one.first);
    });
    RunsOfFile runs;
    for (const auto &[folder, one] : found | std::views::take(kMostRuns)) {
      const auto written = fs::last_write_time(folder / capture::kRunFile, error);
      if (!one->run || one->written != written) { // it is written again when the program ends
        one->written = written;
        one->run = read(folder, *one->facts);
      }
      runs.push_back(one->run);
    }
    return runs;
  });
}

std::optional<analysis::CapturedLaunch> captured_launch(const CapturedRun &run,
                                                        const clang::FunctionDecl &kernel) {
  const auto named = [&](const capture::Launch &launch) { return analysis::with_symbol(kernel, launch.kernel) != nullptr; };
  const capture::Line<capture::Launch> *best = longest_launch(run, kernel, named);
  if (!best) // another compiler may mangle the name in another way
    best = longest_launch(run, kernel, [](const capture::Launch &) { return true; });
  if (!best)
    return std::nullopt;
  const capture::Launch &launch = best->operation;
  const capture::Statistics &statistics = best->statistics;
  analysis::CapturedLaunch found{.source = run.source, .symbol = launch.kernel};
  if (statistics.timed > 0)
    found.mean_ns = statistics.total_ns / static_cast<double>(statistics.timed);
  std::ranges::copy(launch.grid, found.grid.begin());
  std::ranges::copy(launch.block, found.block.begin());
  found.shared_bytes = launch.shared_bytes;
  for (unsigned i = 0; i < kernel.getNumParams(); ++i) {
    const capture::Parameter &given = (*launch.parameters)[i];
    for (const analysis::StructField &part : parts_of(*kernel.getParamDecl(i))) {
      const auto at = static_cast<std::uint32_t>(part.offset);
      const auto pointer = std::ranges::find(given.pointers, at, &capture::Pointer::at);
      const std::string bytes =
          part.path.empty() ? given.bytes
                            : given.bytes.substr(at, static_cast<std::size_t>(
                                                         kernel.getASTContext().getTypeSizeInChars(part.type).getQuantity()));
      const bool is_null = std::ranges::all_of(bytes, [](char byte) { return byte == 0; });
      if (pointer != given.pointers.end())
        found.extents_bytes[part.name] = static_cast<std::int64_t>(extent_of(*pointer, launch));
      else if (part.type->isPointerType() && is_null)
        found.integers[part.name] = 0;
      else if (part.type->isIntegralOrEnumerationType())
        found.integers[part.name] =
            capture::integer_of(bytes, part.type->isSignedIntegerOrEnumerationType());
      else if (part.type->isRealFloatingType() &&
               (bytes.size() == sizeof(float) || bytes.size() == sizeof(double)))
        found.numbers[part.name] = capture::real_of(bytes);
    }
  }
  found.values = values_of(run.buffers, launch, kernel);
  return found;
}

std::optional<analysis::CapturedTime> captured_time(const CapturedRun &run,
                                                    const std::string &kernel) {
  analysis::CapturedTime time{.source = run.source};
  const auto [begin, end] = run.launches.equal_range(kernel);
  for (auto at = begin; at != end; ++at) {
    time.runs += at->second.statistics.count + at->second.statistics.in_graphs;
    time.total_ns += at->second.statistics.total_ns;
  }
  if (time.runs == 0)
    return std::nullopt;
  time.share = run.gpu_ns > 0 ? time.total_ns / run.gpu_ns : 0;
  return time;
}

} // namespace warpwright::server
