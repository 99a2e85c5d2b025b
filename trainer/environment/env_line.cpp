// Environment calls over child processes with one line each.
#include "trainer/environment/env_line.h"

#include <filesystem>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

} // namespace

std::string find_program(const std::string &name) {
  if (name.find('/') != std::string::npos)
    return name;
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  const auto beside = self.parent_path() / name;
  return !failed && std::filesystem::exists(beside, failed) ? beside.string() : name;
}

EnvPool::EnvPool(std::string program, int processes)
    : program_(std::move(program)), free_count_(processes) {}

Result<std::unique_ptr<EnvPool>> EnvPool::start(const std::string &program, int processes) {
  std::unique_ptr<EnvPool> pool(new EnvPool(find_program(program), processes));
  for (int i = 0; i < processes; ++i) {
    auto process = rpc::ChildLine::start({pool->program_, "env"});
    if (!process)
      return fail(process.error().message,
                  "Name the executable with environment.warpwright, or use mode = \"recorded\"");
    pool->free_.with([&](auto &free) { free.push_back(std::move(*process)); });
  }
  return pool;
}

Result<Json> EnvPool::call(const std::string &method, const Json &params) {
  free_count_.acquire();
  auto process = free_.with([](auto &free) {
    auto last = std::move(free.back());
    free.pop_back();
    return last;
  });
  Result<Json> answer = fail(std::string(kEnvLost));
  bool lost = !process;
  if (process) {
    auto called = process->call(method, params);
    lost = !called && called.error().lost;
    if (called)
      answer = std::move(*called);
    else
      answer = fail((lost ? std::string(kEnvLost) + ": " : "") + called.error().error.message);
  }
  if (lost) { // a crash costs only this call; the next one uses a new child
    auto fresh = rpc::ChildLine::start({program_, "env"});
    process = fresh ? std::move(*fresh) : nullptr;
  }
  free_.with([&](auto &free) { free.push_back(std::move(process)); });
  free_count_.release();
  return answer;
}

} // namespace warpwright::trainer
