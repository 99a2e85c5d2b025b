// Sources of proposals: the learned cost model or the builtin policy in this process, or `warpwright-train propose`,
// which can ask endpoints.
//
// The builtin policy answers without LibTorch (trainer/inference), so it needs no second process. A language model
// answers through a child process; if the child dies, the search only loses its advice. Thread: one at a time.
#pragma once

#include "generator/search/search.h"
#include "server/optimize/own_ledger.h"
#include "server/optimize/propose_line.h"
#include "trainer/inference/plain_network.h"

#include <memory>

namespace warpwright::server {

class Adviser {
public:
  virtual ~Adviser() = default;
  virtual std::string_view name() const = 0; ///< "ranked", "builtin", "endpoint"
  virtual std::string note() const { return {}; } ///< for reports, behind the name; may be empty
  /// Errors: the adviser cannot continue; the message gives the reason.
  virtual Result<Advice> advise(const source::State &original,
                                const std::vector<search::Variant> &tried) = 0;
};

/// @param ranker outlives this @param task features of the kernel's task
std::unique_ptr<Adviser> make_ranked_adviser(const trainer::Ranker &ranker, trainer::TaskFacts task,
                                             OwnLessons lessons);

/// @param task inferred from the kernel @param device that the verdicts come from
std::unique_ptr<Adviser> make_builtin_adviser(const trainer::PlainPolicy &policy,
                                              const model::Task &task,
                                              std::optional<model::DeviceInfo> device);

std::unique_ptr<Adviser> make_line_adviser(ProposeLine line,
                                           std::optional<model::DeviceInfo> device);

} // namespace warpwright::server
