// Texts of an attention's scores and results, which do not depend on how a kernel multiplies.
#pragma once

#include "generator/elements/element_writer.h"
#include "generator/families/attention/attention_problem.h"

#include <string>
#include <vector>

namespace warpwright::families::attention {

/// Device code that both kernels need.
extern const char *const kAttentionDevice;

class AttentionText {
public:
  AttentionText(const ops::GraphIndex &graph, const elements::Region &region,
                const AttentionProblem &problem);

  elements::ElementWriter &writer() { return writer_; }

  /// First key that `row` sees, and the one behind the last.
  std::string window() const;
  /// Changes `values`, the scores of keys 2 * pair and 2 * pair + 1; empty: it does not.
  std::string score();
  /// Stores `values`, four columns of `row`.
  std::string store();
  /// The number to whose power of two a score is raised, by the score.
  std::string factor() const;

private:
  std::string changed(const std::string &score, const std::string &lane) const;
  std::string place() const;
  elements::Index lead() const;
  elements::Index result_index(const std::string &column) const;
  elements::Index score_index(const std::string &key) const;

  const ops::GraphIndex &graph_;
  const AttentionProblem &problem_;
  elements::ElementWriter writer_;
};

} // namespace warpwright::families::attention
