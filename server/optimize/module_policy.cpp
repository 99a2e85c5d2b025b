// Frame of the policies that begin with a chosen proposer.
#include "server/optimize/module_policy.h"

#include "generator/search/graph_env.h"
#include "support/model/graph_json.h"
#include "support/model/json.h"

namespace warpwright::server {

Result<std::string> graph_text(const TorchTask &task, const model::DeviceInfo &device) {
  const auto answer = search::answer_graph_env("tasks", {{"graph", model::to_json(task.graph)},
                                                         {"task", model::to_json(task.task)},
                                                         {"device", model::to_json(device)}});
  if (!answer)
    return fail(answer.error().message);
  return answer->at("kernels").at(0).at("graph").get<std::string>();
}

AdvisedModulePolicy::AdvisedModulePolicy(std::string name,
                                         std::unique_ptr<search::TorchPolicy> search,
                                         ModulePolicy &told)
    : name_(std::move(name)), search_(std::move(search)), told_(told) {
  told_.described = name_;
}

std::optional<search::TorchProposal>
AdvisedModulePolicy::propose(const std::vector<search::TorchVariant> &tried) {
  if (!ended_) {
    auto proposal = advised(tried);
    ended_ = !proposal;
    told_.described = described() + (ended_ ? ", then search: " + describe(proposal.error()) : "");
    if (proposal)
      return std::move(*proposal);
  }
  return search_->propose(tried);
}

void AdvisedModulePolicy::note(const std::string &plan, const std::string &analysis) {
  told_.analysis = analysis;
  told_.proposed[plan] = {name_, analysis, std::nullopt, {}};
}

} // namespace warpwright::server
