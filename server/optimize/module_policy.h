// Policies for plans of a traced torch module in Python or C++ that begin with a chosen proposer:
// the builtin network, which makes the moves of generator/search/plan_walk.h, or a language model,
// which also writes kernels for regions.
//
// When the proposer has no new plan or fails, the search's own policy proposes instead, and the
// reason is reported.
#pragma once

#include "server/optimize/propose_line.h"
#include "server/optimize/torch_optimizer.h"

namespace warpwright::trainer {
struct PlainPolicy;
}

namespace warpwright::server {

/// Frame of these policies.
class AdvisedModulePolicy : public search::TorchPolicy {
public:
  /// @param search policy that continues after the proposer @param told receives the reports;
  /// outlives this
  AdvisedModulePolicy(std::string name, std::unique_ptr<search::TorchPolicy> search,
                      ModulePolicy &told);
  std::string_view name() const override { return name_; }
  std::optional<search::TorchProposal>
  propose(const std::vector<search::TorchVariant> &tried) override;

protected:
  /// The proposer's next plan; nullopt: plans in work must be judged first.
  /// Errors: the reason why it proposes no more.
  virtual Result<std::optional<search::TorchProposal>>
  advised(const std::vector<search::TorchVariant> &tried) = 0;
  /// Says who proposes, with costs and the like.
  virtual std::string described() const { return name_; }
  /// Notes that the proposer made a plan, for reports.
  void note(const std::string &plan, const std::string &analysis);
  search::TorchPolicy &search() { return *search_; }

private:
  std::string name_;
  std::unique_ptr<search::TorchPolicy> search_;
  ModulePolicy &told_;
  bool ended_ = false;
};

/// The module's op graph as prompts show it (generator/search/graph_env.h).
Result<std::string> graph_text(const TorchTask &task, const model::DeviceInfo &device);

/// `task` outlives the policies.
std::unique_ptr<search::TorchPolicy>
make_builtin_module_policy(const trainer::PlainPolicy &policy, const TorchTask &task,
                           const model::DeviceInfo &device,
                           std::unique_ptr<search::TorchPolicy> search, ModulePolicy &told);

/// The search's first plan is measured first, so that the language model sees what its regions
/// take.
std::unique_ptr<search::TorchPolicy>
make_endpoint_module_policy(ProposeLine line, const TorchTask &task,
                            const model::DeviceInfo &device,
                            std::unique_ptr<search::TorchPolicy> search, ModulePolicy &told);

} // namespace warpwright::server
