// The methods of `warpwright env` (generator/search/env.h) from this side: a child process, or whoever else answers them.
//
// Thread: any; a line answers one call at a time, so there are several (EnvPool).
#pragma once

#include "support/error.h"
#include "support/exclusive.h"
#include "support/rpc/child_line.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <string>
#include <vector>

namespace warpwright::trainer {

inline constexpr std::string_view kEnvLost = "warpwright env is lost";

class EnvLine {
public:
  virtual ~EnvLine() = default;
  /// Errors: what the environment refuses, in its words; a line that is lost: then the message starts with kEnvLost.
  virtual Result<nlohmann::json> call(const std::string &method, const nlohmann::json &params) = 0;
};

/// Several children `PROGRAM env`; a call takes one that is free. One that crashed is started again.
class EnvPool final : public EnvLine {
public:
  /// Errors: a program that cannot be started.
  static Result<std::unique_ptr<EnvPool>> start(const std::string &program, int processes);
  Result<nlohmann::json> call(const std::string &method, const nlohmann::json &params) override;

private:
  EnvPool(std::string program, int processes);

  std::string program_;
  std::counting_semaphore<> free_count_;
  Exclusive<std::vector<std::unique_ptr<rpc::ChildLine>>> free_;
};

/// Beside this executable, on $PATH, or the path itself where it has a slash.
std::string find_program(const std::string &name);

} // namespace warpwright::trainer
