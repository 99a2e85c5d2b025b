// Client of the methods of `warpwright env` (generator/search/env.h), answered by a child process or a substitute.
//
// Thread: any; a line answers one call at a time, so a pool holds several (EnvPool).
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
  /// Errors: the environment's own refusal; a lost line, with a message that starts with kEnvLost.
  virtual Result<nlohmann::json> call(const std::string &method, const nlohmann::json &params) = 0;
};

/// Pool of children `PROGRAM env`; a call takes a free one. A crashed child is restarted.
class EnvPool final : public EnvLine {
public:
  /// Errors: the program cannot start.
  static Result<std::unique_ptr<EnvPool>> start(const std::string &program, int processes);
  Result<nlohmann::json> call(const std::string &method, const nlohmann::json &params) override;

private:
  EnvPool(std::string program, int processes);

  std::string program_;
  std::counting_semaphore<> free_count_;
  Exclusive<std::vector<std::unique_ptr<rpc::ChildLine>>> free_;
};

/// Path of a program: `name` itself if it has a slash, else next to this executable, else from $PATH.
std::string find_program(const std::string &name);

} // namespace warpwright::trainer
