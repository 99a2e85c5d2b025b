// Implementation by blocking writes and reads of frames over the child's pipes.
#include "support/rpc/child_line.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace warpwright::rpc {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxAnswerBytes = 64u << 20;

std::string shown(const std::vector<std::string> &command) {
  std::string text = std::filesystem::path(command.front()).filename().string();
  return command.size() > 1 ? text + " " + command[1] : text;
}

bool is_notification(const Json &message) {
  return message.is_object() && !message.contains("id") && message.contains("method") &&
         message.at("method").is_string();
}

} // namespace

ChildLine::ChildLine(Process process, std::string name)
    : process_(std::move(process)), name_(std::move(name)), input_(process_.release_stdin()),
      output_(process_.release_stdout()), reader_(kMaxAnswerBytes) {}

ChildLine::~ChildLine() {
  ::close(input_);
  ::close(output_);
}

Result<std::unique_ptr<ChildLine>> ChildLine::start(const std::vector<std::string> &command) {
  auto process = Process::spawn(command);
  if (!process)
    return fail("cannot start " + shown(command) + ": " + describe(process.error()));
  std::signal(SIGPIPE, SIG_IGN); // then a lost child is an error of the call
  return std::unique_ptr<ChildLine>(new ChildLine(std::move(*process), shown(command)));
}

void ChildLine::kill() { process_.kill(SIGKILL); }

Result<void> ChildLine::send(const std::string &body) {
  const std::string frame = framed(body, Framing::ContentLength);
  for (std::size_t sent = 0; sent < frame.size();) {
    const ssize_t count = ::write(input_, frame.data() + sent, frame.size() - sent);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fail(name_ + " is gone: " + std::strerror(errno));
    sent += std::size_t(count);
  }
  return {};
}

Result<std::string> ChildLine::receive() {
  char buffer[64 << 10];
  for (;;) {
    auto body = TRY(reader_.next());
    if (body)
      return std::move(*body);
    const ssize_t count = ::read(output_, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return fail(name_ + " ended in the middle of a call");
    reader_.append({buffer, std::size_t(count)});
  }
}

std::expected<Json, CallError> ChildLine::call(const std::string &method, const Json &params,
                                               const Notified &notified) {
  const auto lost = [](const Error &error) { return std::unexpected(CallError{error, true}); };
  const Json request{
      {"jsonrpc", "2.0"}, {"id", ++last_id_}, {"method", method}, {"params", params}};
  if (auto sent = send(request.dump(-1, ' ', false, Json::error_handler_t::replace)); !sent)
    return lost(sent.error());
  Json answer;
  do {
    auto body = receive();
    if (!body)
      return lost(body.error());
    answer = Json::parse(*body, nullptr, false);
    if (is_notification(answer) && notified)
      notified(answer.at("method"), answer.value("params", Json()));
  } while (is_notification(answer));
  if (answer.is_object() && answer.contains("result"))
    return answer.at("result");
  if (answer.is_object() && answer.contains("error") && answer.at("error").is_object())
    return std::unexpected(
        CallError{{answer.at("error").value("message", name_ + " refused " + method), {}}, false});
  return lost({name_ + " answered " + method + " with no JSON-RPC", {}});
}

} // namespace warpwright::rpc
