// Implementation: blocking writes and reads of frames over the child's pipes.
#include "trainer/environment/env_line.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxAnswerBytes = 64u << 20;

} // namespace

std::string find_program(const std::string &name) {
  if (name.find('/') != std::string::npos)
    return name;
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  const auto beside = self.parent_path() / name;
  return !failed && std::filesystem::exists(beside, failed) ? beside.string() : name;
}

EnvProcess::EnvProcess(Process process)
    : process_(std::move(process)), input_(process_.release_stdin()),
      output_(process_.release_stdout()), reader_(kMaxAnswerBytes) {}

EnvProcess::~EnvProcess() {
  ::close(input_);
  ::close(output_);
}

Result<std::unique_ptr<EnvProcess>> EnvProcess::start(const std::string &program) {
  auto process = Process::spawn({program, "env"});
  if (!process)
    return fail("cannot start " + program + " env: " + describe(process.error()),
                "Name the executable with environment.warpwright, or use mode = \"recorded\"");
  return std::unique_ptr<EnvProcess>(new EnvProcess(std::move(*process)));
}

Result<void> EnvProcess::send(const std::string &body) {
  const std::string frame = "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  for (std::size_t sent = 0; sent < frame.size();) {
    const ssize_t count = ::write(input_, frame.data() + sent, frame.size() - sent);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fail(std::string("warpwright env is gone: ") + std::strerror(errno));
    sent += std::size_t(count);
  }
  return {};
}

Result<std::string> EnvProcess::receive() {
  char buffer[64 << 10];
  for (;;) {
    auto body = reader_.next();
    if (!body)
      return std::unexpected(body.error());
    if (*body)
      return std::move(**body);
    const ssize_t count = ::read(output_, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return fail("warpwright env ended in the middle of a call");
    reader_.append({buffer, std::size_t(count)});
  }
}

Result<Json> EnvProcess::call(const std::string &method, const Json &params) {
  const Json request{
      {"jsonrpc", "2.0"}, {"id", ++last_id_}, {"method", method}, {"params", params}};
  if (auto sent = send(request.dump(-1, ' ', false, Json::error_handler_t::replace)); !sent)
    return std::unexpected(sent.error());
  auto body = receive();
  if (!body)
    return std::unexpected(body.error());
  const Json answer = Json::parse(*body, nullptr, false);
  if (answer.contains("result"))
    return answer.at("result");
  if (answer.contains("error"))
    return fail(answer.at("error").value("message", "warpwright env refused " + method));
  return fail("warpwright env answered " + method + " with no JSON-RPC");
}

EnvPool::EnvPool(std::string program, int processes)
    : program_(std::move(program)), free_count_(processes) {}

Result<std::unique_ptr<EnvPool>> EnvPool::start(const std::string &program, int processes) {
  std::unique_ptr<EnvPool> pool(new EnvPool(find_program(program), processes));
  for (int i = 0; i < processes; ++i) {
    auto process = EnvProcess::start(pool->program_);
    if (!process)
      return std::unexpected(process.error());
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
  Result<Json> answer = fail("warpwright env is gone");
  if (process)
    answer = process->call(method, params);
  const bool lost = !process || (!answer && answer.error().message.starts_with("warpwright env"));
  if (lost) { // a crash costs this call; the next one finds a fresh child
    auto fresh = EnvProcess::start(program_);
    process = fresh ? std::move(*fresh) : nullptr;
  }
  free_.with([&](auto &free) { free.push_back(std::move(process)); });
  free_count_.release();
  return answer;
}

} // namespace warpwright::trainer
