// Pairs of kernels by their qualified names, and diagnostics by rule and message: lines move.
#include "server/cli/check/changes.h"
#include "analysis/guard/guard.h"
#include "server/cli/check/affected_files.h"
#include "server/cli/files.h"
#include "server/source_hash.h"
#include "support/files.h"
#include "support/model/json.h"

#include <algorithm>
#include <map>

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;

/// Selected paths, from the root. Errors: a path that is not there, or outside of the repository.
Result<std::vector<std::string>> selected(const fs::path &root, const std::vector<std::string> &paths) {
  std::vector<std::string> found;
  for (const std::string &path : paths) {
    std::error_code error;
    const fs::path whole = fs::canonical(path, error);
    if (error)
      return fail(path + ": no such file or directory", "Check the path; it is relative to " + fs::current_path().string());
    const std::string relative = whole.lexically_relative(root);
    if (relative.starts_with(".."))
      return fail(path + " is not in the repository " + root.string());
    found.push_back(relative == "." ? "" : relative);
  }
  return found;
}

bool is_selected(const std::string &path, const std::vector<std::string> &places) {
  return places.empty() || std::ranges::any_of(places, [&](const std::string &place) {
           return place.empty() || path == place || path.starts_with(place + "/");
         });
}

/// A plan without what its place in the file changes: `#line` directives.
std::string identity(const model::Plan &plan) {
  model::Plan bare = plan;
  bare.source = server::source_hash(plan.source);
  return model::hash(bare);
}

bool is_same(const analysis::Kernel &base, const analysis::Kernel &head) {
  if (base.slice.empty() || head.slice.empty() || server::source_hash(base.slice) != server::source_hash(head.slice))
    return base.slice.empty() && head.slice.empty() && base.slice_error == head.slice_error;
  if (base.task.task.module || head.task.task.module || !base.task.inferred || !head.task.inferred)
    return true;
  return identity(base.task.task.reference) == identity(head.task.task.reference);
}

/// Adds the diagnostics of `head` that `base` does not have.
void add_new_diagnostics(const std::string &path, const analysis::FileFacts &base,
                         const analysis::FileFacts &head, Changes &changes) {
  std::map<std::pair<std::string, std::string>, int> known;
  for (const analysis::Diagnostic &diagnostic : base.diagnostics)
    ++known[{diagnostic.rule, diagnostic.message}];
  for (const analysis::Diagnostic &diagnostic : head.diagnostics)
    if (--known[{diagnostic.rule, diagnostic.message}] < 0)
      changes.diagnostics.push_back({path, diagnostic});
}

void pair_kernels(const std::string &path, const analysis::FileFacts &base, const analysis::FileFacts &head, Changes &changes) {
  std::size_t paired = 0;
  for (const analysis::Kernel &kernel : head.kernels) {
    const auto before = std::ranges::find(base.kernels, kernel.qualified_name, &analysis::Kernel::qualified_name);
    const bool existed = before != base.kernels.end();
    paired += existed;
    if (existed && is_same(*before, kernel))
      ++changes.unchanged;
    else
      changes.kernels.push_back({path, existed ? std::optional(*before) : std::nullopt, kernel});
  }
  changes.removed += base.kernels.size() - std::min(paired, base.kernels.size());
}

/// Analyzes both states of one file.
Result<void> examine(InputReader &reader, const Repository &repository, const fs::path &base_folder,
                     const std::string &path, const std::string &old_path, Changes &changes) {
  const Input head = TRY(reader.read(repository.root() / path));
  if (const analysis::Diagnostic *reason = analysis::why_not_analysed(head.facts))
    return fail(reason->message);
  analysis::FileFacts base;
  std::error_code ignored;
  if (!old_path.empty() && fs::exists(base_folder / old_path, ignored)) {
    const Input before = TRY(reader.read_copy(base_folder / old_path, repository.root() / path,
                                              {repository.root().string(), base_folder.string()}));
    if (const analysis::Diagnostic *reason = analysis::why_not_analysed(before.facts))
      return fail("at the base: " + reason->message);
    base = before.facts;
  }
  pair_kernels(path, base, head.facts, changes);
  add_new_diagnostics(path, base, head.facts, changes);
  return {};
}

} // namespace

Result<Changes> find_changes(const Repository &repository, const fs::path &base_folder,
                             const std::vector<std::string> &paths) {
  const auto places = TRY(selected(repository.root(), paths));
  const auto changed = TRY(repository.changes());
  const auto all = TRY(repository.files());
  std::map<std::string, std::string> old_paths;
  for (const ChangedFile &file : changed)
    old_paths[file.path] = file.old_path;
  Changes changes;
  InputReader reader;
  for (const std::string &path : affected_files(repository.root(), all, changed)) {
    if (!is_selected(path, places))
      continue;
    const auto known = old_paths.find(path);
    ++changes.files;
    if (const auto examined = examine(reader, repository, base_folder, path,
                                      known == old_paths.end() ? path : known->second, changes);
        !examined)
      changes.failures.emplace_back(path, examined.error());
  }
  return changes;
}

} // namespace warpwright::cli
