#include "server/optimize/policies.h"

#include "server/optimize/module_policy.h"
#include "trainer/inference/shipped_weights.h"
#include "trainer/ranker/ranker_file.h"

#include <cstdlib>

namespace warpwright::server {
namespace {

using Kind = PolicyChoice::Kind;

/// Name of `warpwright-train`, or of its build without LibTorch, which packages contain.
std::string propose_program() {
  if (const char *chosen = std::getenv("WARPWRIGHT_TRAIN"); chosen && *chosen)
    return chosen;
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  for (const char *name : {"warpwright-train", "warpwright-collect"})
    if (const auto beside = self.parent_path() / name; std::filesystem::exists(beside, failed))
      return beside;
  return "warpwright-train";
}

/// The weights in a file, which is read again when it has changed.
template <class Loaded, class Load>
auto loaded(std::optional<Loaded> &kept, const std::string &path, Load load)
    -> Result<decltype(kept->weights.get())> {
  std::error_code failed;
  const auto written = std::filesystem::last_write_time(path, failed);
  if (kept && kept->path == path && kept->written == written)
    return kept->weights.get();
  auto weights = load(path);
  if (!weights)
    return std::unexpected(weights.error());
  kept.emplace(path, written,
               std::make_unique<std::remove_cvref_t<decltype(*weights)>>(std::move(*weights)));
  return kept->weights.get();
}

} // namespace

Policies::Policies(OwnLedger::Open open_ledger) {
  if (open_ledger)
    own_.emplace(std::move(open_ledger));
}

Result<const trainer::PlainPolicy *> Policies::weights(const std::string &path) {
  return loaded(builtin_, path, trainer::load_plain_policy);
}

Result<const trainer::Ranker *> Policies::ranker() {
  const std::string path = trainer::shipped_ranker();
  if (path.empty())
    return fail("the weights of the learned cost model are missing from this installation",
                "Install the program again, or name a file in WARPWRIGHT_RANKER");
  return loaded(ranker_, path, trainer::load_ranker);
}

Result<rpc::ChildLine *> Policies::line(const std::string &endpoint) {
  const bool alive =
      line_ && line_endpoint_ == endpoint && line_->call("info", nlohmann::json::object());
  if (alive)
    return line_.get();
  line_.reset();
  std::error_code failed;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", failed);
  auto started = rpc::ChildLine::start({propose_program(), "propose", "--policy", endpoint, "--set",
                                        "environment.warpwright = \"" + self + "\"", "--set",
                                        "environment.env_processes = 1"});
  if (!started)
    return fail(started.error().message,
                "Put warpwright-train next to this program, or set WARPWRIGHT_TRAIN to its path");
  if (auto info = (*started)->call("info", nlohmann::json::object()); !info)
    return fail("the policy " + endpoint + " does not start: " + info.error().error.message);
  line_ = std::move(*started);
  line_endpoint_ = endpoint;
  return line_.get();
}

Result<std::unique_ptr<Adviser>> Policies::ranked_adviser(const KernelSearch &search) {
  const trainer::Ranker *ranker = TRY(this->ranker());
  const search::KernelNumbers numbers = TRY(search::kernel_numbers(search.task));
  OwnLessons lessons;
  if (search.learn && own_ && search.device && search.device->kind == "cuda")
    lessons = own_->lessons(*ranker, search.file, search.task, *search.device);
  return make_ranked_adviser(*ranker, trainer::task_facts(search.task, numbers, search.device),
                             std::move(lessons));
}

std::expected<std::unique_ptr<Adviser>, std::string>
Policies::adviser(const PolicyChoice &choice, const KernelSearch &search, std::stop_token stop) {
  if (choice.kind == Kind::Search)
    return std::unexpected(std::string());
  if (choice.kind == Kind::Ranked) {
    auto adviser = ranked_adviser(search);
    if (!adviser)
      return std::unexpected(describe(adviser.error()));
    return std::move(*adviser);
  }
  if (choice.kind == Kind::Endpoint) {
    auto line = this->line(choice.endpoint);
    if (!line)
      return std::unexpected(describe(line.error()));
    return make_line_adviser({**line, std::move(stop), search.told}, search.device);
  }
  const std::string path = choice.weights.empty() ? trainer::shipped_weights() : choice.weights;
  if (path.empty())
    return std::unexpected("the weights of the builtin policy are missing from this installation");
  auto policy = weights(path);
  if (!policy)
    return std::unexpected(describe(policy.error()));
  return make_builtin_adviser(**policy, search.task, search.device);
}

std::unique_ptr<AdvisedPolicy> Policies::for_kernel(const PolicyChoice &choice,
                                                    const KernelSearch &search,
                                                    std::stop_token stop) {
  ++searches_;
  auto adviser = this->adviser(choice, search, std::move(stop));
  if (adviser)
    return std::make_unique<AdvisedPolicy>(std::move(*adviser), search.task);
  std::string why = adviser.error();
  if (!why.empty() && ++replaced_ > 1)
    why += " (" + std::to_string(replaced_) + " of " + std::to_string(searches_) + " searches)";
  return std::make_unique<AdvisedPolicy>(nullptr, search.task, std::move(why));
}

std::unique_ptr<ModulePolicy> Policies::for_module(const PolicyChoice &choice,
                                                   ProposeLine::Told told, std::stop_token stop) {
  auto module = std::make_unique<ModulePolicy>();
  if (choice.kind == Kind::Endpoint) {
    auto line = this->line(choice.endpoint);
    if (!line) {
      module->described = "search, because " + describe(line.error());
      return module;
    }
    module->make = [line = ProposeLine(**line, std::move(stop), std::move(told)),
                    report = module.get()](const TorchTask &task, const model::DeviceInfo &device,
                                           std::unique_ptr<search::TorchPolicy> search) {
      return make_endpoint_module_policy(line, task, device, std::move(search), *report);
    };
    return module;
  }
  if (choice.kind == Kind::Ranked && !choice.is_default)
    module->described = "search, because the learned cost model has no records of modules' plans";
  if (choice.kind != Kind::Builtin)
    return module;
  const std::string path = choice.weights.empty() ? trainer::shipped_weights() : choice.weights;
  auto policy = path.empty()
                    ? fail("the weights of the builtin policy are missing from this installation")
                    : weights(path);
  if (!policy) {
    module->described = "search, because " + describe(policy.error());
    return module;
  }
  module->make = [policy = **policy,
                  told = module.get()](const TorchTask &task, const model::DeviceInfo &device,
                                       std::unique_ptr<search::TorchPolicy> search) {
    return make_builtin_module_policy(policy, task, device, std::move(search), *told);
  };
  return module;
}

} // namespace warpwright::server
