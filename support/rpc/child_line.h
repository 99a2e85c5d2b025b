// JSON-RPC with a child process, for programs without an event loop: one blocking call at a time.
//
// It is for children that serve one caller (states, proposals), and leaves out cancellation and
// time limits; notifications of the child arrive during calls only. If the child ends during a
// call, the call fails. Thread: one at a time; the child dies with the thread that started it.
#pragma once

#include "support/error.h"
#include "support/process.h"
#include "support/rpc/frame_reader.h"

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

namespace warpwright::rpc {

struct CallError {
  Error error;
  bool lost = false; ///< the child is gone; false: the child refused the call
};

class ChildLine {
public:
  /// Errors: a program that cannot be started.
  static Result<std::unique_ptr<ChildLine>> start(const std::vector<std::string> &command);
  ~ChildLine();
  ChildLine(const ChildLine &) = delete;
  ChildLine &operator=(const ChildLine &) = delete;

  using Notified = std::function<void(const std::string &method, const nlohmann::json &params)>;

  /// @param notified gets the child's notifications until it answers; unset: they are dropped
  std::expected<nlohmann::json, CallError>
  call(const std::string &method, const nlohmann::json &params, const Notified &notified = {});
  /// Ends the child; a running call then fails as lost. Thread: any.
  void kill();

private:
  ChildLine(Process process, std::string name);
  Result<void> send(const std::string &body);
  Result<std::string> receive();

  Process process_;
  std::string name_; ///< for messages: "warpwright env"
  int input_, output_;
  std::int64_t last_id_ = 0;
  FrameReader reader_;
};

} // namespace warpwright::rpc
