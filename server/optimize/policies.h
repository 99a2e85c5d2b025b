// Policies kept between searches: the builtin policy's weights, and the child process that asks an endpoint.
//
// The editor and the command line share this class. All calls must come from one thread, because a child belongs to the
// thread that started it. Files are read and children started at the first search that needs them; a dead child is
// restarted at the next.
#pragma once

#include "server/optimize/advised_policy.h"
#include "server/policy_choice.h"
#include "server/optimize/torch_optimizer.h"

#include <filesystem>

namespace warpwright::server {

class Policies {
public:
  /// Policy for one search; it reports when it replaces the chosen one.
  /// @param device that verdicts come from @param stop cancels a pending answer
  std::unique_ptr<AdvisedPolicy> for_kernel(const PolicyChoice &choice, const model::Task &task,
                                            std::optional<model::DeviceInfo> device,
                                            std::stop_token stop);

  /// The same for torch modules: the search's own policy unless the builtin policy was chosen.
  std::unique_ptr<ModulePolicy> for_module(const PolicyChoice &choice);

private:
  struct Loaded {
    std::string path;
    std::filesystem::file_time_type written;
    trainer::PlainPolicy policy;
  };
  /// Errors: the file does not exist or has another format.
  Result<const trainer::PlainPolicy *> weights(const std::string &path);
  /// Errors: the program cannot start; the endpoint's own error.
  Result<rpc::ChildLine *> line(const std::string &endpoint);
  /// Errors: reason why there is no adviser; empty: none was requested.
  std::expected<std::unique_ptr<Adviser>, std::string>
  adviser(const PolicyChoice &choice, const model::Task &task,
          std::optional<model::DeviceInfo> device, std::stop_token stop);

  std::optional<Loaded> loaded_;
  std::unique_ptr<rpc::ChildLine> line_;
  std::string line_endpoint_;
};

} // namespace warpwright::server
