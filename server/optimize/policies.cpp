#include "server/optimize/policies.h"

#include "server/optimize/module_policy.h"
#include "trainer/inference/shipped_weights.h"

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

} // namespace

Result<const trainer::PlainPolicy *> Policies::weights(const std::string &path) {
  std::error_code failed;
  const auto written = std::filesystem::last_write_time(path, failed);
  if (loaded_ && loaded_->path == path && loaded_->written == written)
    return &loaded_->policy;
  auto policy = trainer::load_plain_policy(path);
  if (!policy)
    return std::unexpected(policy.error());
  loaded_ = Loaded{path, written, std::move(*policy)};
  return &loaded_->policy;
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
                "Put warpwright-train beside this program, or set WARPWRIGHT_TRAIN to its path");
  if (auto info = (*started)->call("info", nlohmann::json::object()); !info)
    return fail("the policy " + endpoint + " does not start: " + info.error().error.message);
  line_ = std::move(*started);
  line_endpoint_ = endpoint;
  return line_.get();
}

std::expected<std::unique_ptr<Adviser>, std::string>
Policies::adviser(const PolicyChoice &choice, const model::Task &task,
                  std::optional<model::DeviceInfo> device, std::stop_token stop) {
  if (choice.kind == Kind::Search)
    return std::unexpected(std::string());
  if (choice.kind == Kind::Endpoint) {
    auto line = this->line(choice.endpoint);
    if (!line)
      return std::unexpected(describe(line.error()));
    return make_line_adviser(**line, std::move(device), std::move(stop));
  }
  const std::string path = choice.weights.empty() ? trainer::shipped_weights() : choice.weights;
  if (path.empty())
    return std::unexpected("there are no weights of the builtin policy beside this program");
  auto policy = weights(path);
  if (!policy)
    return std::unexpected(describe(policy.error()));
  return make_builtin_adviser(**policy, task, std::move(device));
}

std::unique_ptr<AdvisedPolicy> Policies::for_kernel(const PolicyChoice &choice,
                                                    const model::Task &task,
                                                    std::optional<model::DeviceInfo> device,
                                                    std::stop_token stop) {
  auto adviser = this->adviser(choice, task, std::move(device), std::move(stop));
  if (!adviser)
    return std::make_unique<AdvisedPolicy>(nullptr, task, adviser.error());
  return std::make_unique<AdvisedPolicy>(std::move(*adviser), task);
}

std::unique_ptr<ModulePolicy> Policies::for_module(const PolicyChoice &choice) {
  auto module = std::make_unique<ModulePolicy>();
  if (choice.kind == Kind::Endpoint)
    module->described = "search, because language models are asked about CUDA kernels only";
  if (choice.kind != Kind::Builtin)
    return module;
  const std::string path = choice.weights.empty() ? trainer::shipped_weights() : choice.weights;
  auto policy = path.empty()
                    ? fail("there are no weights of the builtin policy beside this program")
                    : weights(path);
  if (!policy) {
    module->described = "search, because " + describe(policy.error());
    return module;
  }
  module->make = [policy = **policy,
                  told = module.get()](const TorchTask &task, const model::DeviceInfo &device,
                                       std::unique_ptr<search::TorchPolicy> search) {
    return make_module_policy(policy, task, device, std::move(search), *told);
  };
  return module;
}

} // namespace warpwright::server
