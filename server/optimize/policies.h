// What proposing takes, kept between searches: the builtin policy's weights, and the child that asks an endpoint.
//
// Editor and command line share it. A child belongs to the thread that started it, so all calls come from one thread. Nothing
// is read or started before the first search. A child that has died is started again at the next search.
#pragma once

#include "server/optimize/advised_policy.h"
#include "server/policy_choice.h"
#include "server/optimize/torch_optimizer.h"

#include <filesystem>

namespace warpwright::server {

class Policies {
public:
  /// The policy of one search. It says itself where it is not the one that was chosen.
  /// @param device that verdicts come from @param stop ends an answer that is waited for
  std::unique_ptr<AdvisedPolicy> for_kernel(const PolicyChoice &choice, const model::Task &task,
                                            std::optional<model::DeviceInfo> device,
                                            std::stop_token stop);

  /// The same for torch modules, which search by default: the builtin policy is asked where it was chosen.
  std::unique_ptr<ModulePolicy> for_module(const PolicyChoice &choice);

private:
  struct Loaded {
    std::string path;
    std::filesystem::file_time_type written;
    trainer::PlainPolicy policy;
  };
  /// Errors: no such file, or none of this format.
  Result<const trainer::PlainPolicy *> weights(const std::string &path);
  /// Errors: no such program; what it says of the endpoint.
  Result<rpc::ChildLine *> line(const std::string &endpoint);
  /// Errors: why there is no adviser, empty where none was asked for.
  std::expected<std::unique_ptr<Adviser>, std::string>
  adviser(const PolicyChoice &choice, const model::Task &task,
          std::optional<model::DeviceInfo> device, std::stop_token stop);

  std::optional<Loaded> loaded_;
  std::unique_ptr<rpc::ChildLine> line_;
  std::string line_endpoint_;
};

} // namespace warpwright::server
