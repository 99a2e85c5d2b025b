// Proposals of `warpwright-train propose` as a policy of the search; where it cannot be had, the search's own.
//
// A trained policy lives in a process of its own, because Clang and LibTorch never share one. A proposal is checked like any other: its
// moves are made one after another, and one that is not legal ends it. Thread: one; the process dies with the thread that made this.
#pragma once

#include "generator/search.h"
#include "support/model/verdict.h"
#include "support/rpc/child_line.h"

namespace warpwright::cli {

class TrainedPolicy final : public generator::Policy {
public:
  /// @param choice "builtin", "builtin:WEIGHTS"; with the program `warpwright-train` from beside this executable, or $WARPWRIGHT_TRAIN
  /// Errors: no such program; weights that it cannot read, in its words on stderr.
  static Result<std::unique_ptr<TrainedPolicy>> start(const std::string &choice,
                                                      std::optional<model::DeviceInfo> device);

  std::string_view name() const override { return "builtin"; }
  std::optional<generator::State> propose(const generator::State &original,
                                          const std::vector<generator::Variant> &tried) override;

  /// What the policy said of the kernel last; empty where it said nothing.
  const std::string &analysis() const { return analysis_; }
  /// Why it stopped proposing, and the search's own policy went on; empty where it did not.
  const std::string &ended() const { return ended_; }

private:
  TrainedPolicy(std::unique_ptr<rpc::ChildLine> line, std::optional<model::DeviceInfo> device);
  Result<generator::State> made(const generator::State &original, const nlohmann::json &moves);

  std::unique_ptr<rpc::ChildLine> line_;
  std::optional<model::DeviceInfo> device_;
  std::unique_ptr<generator::Policy> search_;
  std::string analysis_, ended_;
};

} // namespace warpwright::cli
