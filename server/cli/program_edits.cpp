#include "server/cli/program_edits.h"

#include "server/engine.h"
#include "support/text.h"

#include <algorithm>

namespace warpwright::cli {

Result<program::Sources> edited_sources(const std::vector<ProgramEdit> &edits, const program::EditSet &chosen,
                                        const program::Sources &originals, const std::filesystem::path &folder) {
  program::Sources changed;
  std::map<std::string, std::string> by_path; // the same by absolute paths
  for (const std::size_t number : chosen) {
    const ProgramEdit &edit = edits[number];
    std::string &text = changed.try_emplace(edit.file, originals.at(edit.file)).first->second;
    const auto found = server::variant_edits(edit.entry.file, text, edit.entry, {}, by_path);
    if (!found)
      return fail("the edit of " + edit.entry.kernel + " does not fit beside the others: " + found.error().message);
    text = TRY(apply_edits(text, found->edits));
    by_path[edit.entry.file] = text;
    if (const auto &includer = found->includer) {
      const std::string launching = TRY(apply_edits(includer->text, includer->edits));
      changed[std::filesystem::path(includer->path).lexically_relative(folder).string()] = launching;
      by_path[includer->path] = launching;
    }
  }
  return changed;
}

std::string patch_of(const program::Sources &originals, const program::Sources &changed) {
  std::string patch;
  for (const auto &[file, text] : changed)
    patch += unified_diff(originals.at(file), text, "a/" + file, "b/" + file);
  return patch;
}

program::NumberTolerance tolerance_of(const std::vector<ProgramEdit> &edits) {
  program::NumberTolerance tolerance;
  for (const ProgramEdit &edit : edits)
    tolerance.relative = std::max(tolerance.relative, edit.entry.task.tolerance.relative);
  return tolerance;
}

} // namespace warpwright::cli
