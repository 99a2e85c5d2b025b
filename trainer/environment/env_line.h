// The methods of `warpwright env` (generator/env.h) from this side: a child process, or whoever else answers them.
//
// Thread: any; a line answers one call at a time, so there are several (EnvPool).
#pragma once

#include "support/error.h"
#include "support/exclusive.h"
#include "support/process.h"
#include "support/rpc/frame_reader.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <string>
#include <vector>

namespace warpwright::trainer {

class EnvLine {
public:
  virtual ~EnvLine() = default;
  /// Errors: what the environment refuses, in its words; a line that is lost.
  virtual Result<nlohmann::json> call(const std::string &method, const nlohmann::json &params) = 0;
};

/// `PROGRAM env` as a child. It dies with the thread that made it.
class EnvProcess final : public EnvLine {
public:
  /// Errors: a program that cannot be started.
  static Result<std::unique_ptr<EnvProcess>> start(const std::string &program);
  ~EnvProcess() override;
  Result<nlohmann::json> call(const std::string &method, const nlohmann::json &params) override;

private:
  explicit EnvProcess(Process process);
  Result<void> send(const std::string &body);
  Result<std::string> receive();

  Process process_;
  int input_, output_;
  std::int64_t last_id_ = 0;
  rpc::FrameReader reader_;
};

/// Several children; a call takes one that is free. One that crashed is started again.
class EnvPool final : public EnvLine {
public:
  static Result<std::unique_ptr<EnvPool>> start(const std::string &program, int processes);
  Result<nlohmann::json> call(const std::string &method, const nlohmann::json &params) override;

private:
  EnvPool(std::string program, int processes);

  std::string program_;
  std::counting_semaphore<> free_count_;
  Exclusive<std::vector<std::unique_ptr<EnvProcess>>> free_;
};

/// Beside this executable, on $PATH, or the path itself where it has a slash.
std::string find_program(const std::string &name);

} // namespace warpwright::trainer
