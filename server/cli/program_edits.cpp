#include "server/cli/program_edits.h"

#include "server/engine.h"
#include "support/text.h"

#include <algorithm>

namespace warpwright::cli {

Result<program::Sources> edited_sources(const std::vector<ProgramEdit> &edits, const program::EditSet &chosen,
                                        const program::Sources &originals) {
  program::Sources changed;
  for (const std::size_t number : chosen) {
    const ProgramEdit &edit = edits[number];
    std::string &text = changed.try_emplace(edit.file, originals.at(edit.file)).first->second;
    const auto found = server::variant_edits(edit.entry.file, text, edit.entry, {});
    if (!found)
      return fail("the edit of " + edit.entry.kernel + " does not fit beside the others: " + found.error().message);
    text = TRY(apply_edits(text, *found));
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
