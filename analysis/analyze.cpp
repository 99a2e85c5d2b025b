// Combines the parts of the analysis into the facts of one file.
//
// The parser's facts come first. Kernels and launches that only the scanner finds are added, except
// in text that the preprocessor left out. Launches and kernels are linked by declaration, or by
// name if the declaration is unknown.
#include "analysis/analyze_in.h"
#include "analysis/spec_diagnostics.h"
#include "analysis/unit_tasks.h"

#include <algorithm>
#include <map>

namespace warpwright::analysis {
namespace {

bool overlaps(Range left, Range right) { return left.begin < right.end && right.begin < left.end; }

bool is_left_out(const ParsedUnit &unit, Range range) {
  return std::ranges::any_of(unit.inactive_ranges(),
                             [&](Range inactive) { return overlaps(inactive, range); });
}

/// Adds the scanned facts that the parser lost, and keeps the order of the text.
template <class Fact>
void add_lost(const ParsedUnit &unit, std::vector<Fact> scanned, std::vector<Fact> &known) {
  const std::size_t parsed = known.size();
  for (Fact &fact : scanned) {
    const std::vector<Fact> &before = known;
    if (is_left_out(unit, fact.range) ||
        std::any_of(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(parsed),
                    [&](const Fact &other) { return overlaps(other.range, fact.range); }))
      continue;
    known.push_back(std::move(fact));
  }
  std::ranges::stable_sort(known, {}, [](const Fact &fact) { return fact.range.begin; });
}

/// Position of a launch -> position of the name in its kernel's definition.
using Calls = std::map<std::size_t, std::size_t>;

/// A launch that does not name its kernel directly (a variable, a macro) gets the name of the
/// kernel it calls.
std::vector<Launch> parsed_launches(const ParsedUnit &unit, Calls &calls) {
  std::vector<Launch> result;
  for (const clang::CUDAKernelCallExpr *call : unit.launches()) {
    Launch launch = launch_facts(unit, *call);
    if (const clang::FunctionDecl *kernel = ParsedUnit::kernel_of(call)) {
      launch.kernel = kernel->getNameAsString();
      if (const std::optional<Range> name = unit.range_of(kernel->getNameInfo().getSourceRange()))
        calls[launch.range.begin] = name->begin;
    }
    result.push_back(std::move(launch));
  }
  return result;
}

void link(const Calls &calls, FileFacts &facts) {
  for (Kernel &kernel : facts.kernels) {
    kernel.launches.clear();
    for (std::size_t index = 0; index < facts.launches.size(); ++index) {
      const Launch &launch = facts.launches[index];
      const auto call = calls.find(launch.range.begin);
      if (call == calls.end() ? launch.kernel == kernel.name
                              : call->second == kernel.name_range.begin)
        kernel.launches.push_back(index);
    }
  }
}

void add_tasks(const ParsedUnit &unit, const std::vector<clang::FunctionDecl *> &declarations,
               std::vector<Kernel> &kernels) {
  std::vector<std::pair<const clang::FunctionDecl *, Kernel *>> found;
  for (clang::FunctionDecl *declaration : declarations) {
    const std::optional<Range> name = unit.range_of(declaration->getNameInfo().getSourceRange());
    const auto kernel = std::ranges::find_if(kernels, [&](const Kernel &candidate) {
      return name && candidate.name_range.begin == name->begin;
    });
    if (kernel == kernels.end())
      continue;
    if (Result<std::string> slice = slice_kernel(unit, *declaration))
      kernel->slice = std::move(*slice);
    else
      kernel->slice_error = describe(slice.error());
    found.emplace_back(declaration, &*kernel);
  }
  infer_tasks(unit, found);
}

} // namespace

FileFacts collect_facts(const ParsedUnit &unit, const AnalyzeOptions &options) {
  FileFacts facts;
  facts.path = unit.file().path;
  facts.pass = unit.pass();
  facts.diagnostics = unit.syntax_diagnostics();
  const std::vector<clang::FunctionDecl *> declarations = unit.kernels();
  for (const clang::FunctionDecl *declaration : declarations)
    facts.kernels.push_back(kernel_facts(unit, *declaration));
  Calls calls;
  facts.launches = parsed_launches(unit, calls);
  FileFacts scanned = scan(unit.file());
  add_lost(unit, std::move(scanned.kernels), facts.kernels);
  add_lost(unit, std::move(scanned.launches), facts.launches);
  link(calls, facts);
  if (options.tasks)
    add_tasks(unit, declarations, facts.kernels);
  if (options.tasks)
    std::ranges::move(spec_diagnostics(unit), std::back_inserter(facts.diagnostics));
  if (options.rules)
    std::ranges::move(run_rules(unit, facts), std::back_inserter(facts.diagnostics));
  return facts;
}

FileFacts analyze(const SourceFile &file, const ParseSettings &settings,
                  const AnalyzeOptions &options) {
  return analyze_in(llvm::vfs::getRealFileSystem(), file, settings, options);
}

FileFacts analyze_in(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files, const SourceFile &file,
                     const ParseSettings &settings, const AnalyzeOptions &options) {
  Result<std::unique_ptr<ParsedUnit>> unit = parse_stub(file, settings, std::move(files));
  if (unit)
    return collect_facts(**unit, options);
  FileFacts facts = scan(file);
  facts.diagnostics.push_back({.rule = "flags",
                               .severity = Severity::Error,
                               .message = describe(unit.error()),
                               .line = 1,
                               .column = 1});
  return facts;
}

} // namespace warpwright::analysis
