// Typed handler table: maps a method name to a member function, whose parameters it decodes and
// whose answer it encodes.
//
// The table also keeps the unanswered requests. It answers a request canceled by `$/cancelRequest`
// at once and requests a stop of its work; handlers only look at their stop token. Thread: the
// strand.
#pragma once

#include "server/protocol/types.h"
#include "support/rpc/connection.h"

#include <stop_token>

namespace warpwright::server {

/// LSP's error code for a valid request that failed. The message is shown to the user.
inline constexpr int kRequestFailed = -32803;

inline std::unexpected<rpc::RpcError> refuse(int code, std::string message) {
  return std::unexpected(rpc::RpcError{code, std::move(message), nullptr});
}

/// Answer to one request: a value of T or an error. Call it once, at any time.
template <class T>
class Reply {
public:
  Reply(rpc::Responder respond, std::stop_token stop)
      : respond_(std::move(respond)), stop_(std::move(stop)) {}
  void operator()(std::expected<T, rpc::RpcError> answer) const {
    if (answer)
      respond_(protocol::encode(*answer));
    else
      respond_(std::unexpected(std::move(answer.error())));
  }
  /// Stop is requested when the client cancels the request.
  const std::stop_token &stop() const { return stop_; }

private:
  rpc::Responder respond_;
  std::stop_token stop_;
};

class Binder {
public:
  using Json = protocol::Json;

  template <class Params, class Result, class Server>
  void request(const std::string &method, Server *server,
               void (Server::*handler)(Params, Reply<Result>)) {
    requests_[method] = [server, handler](const Json &params, rpc::Responder respond,
                                          std::stop_token stop) {
      (server->*handler)(protocol::decode<Params>(params),
                         Reply<Result>(std::move(respond), std::move(stop)));
    };
  }
  template <class Params, class Server>
  void notification(const std::string &method, Server *server, void (Server::*handler)(Params)) {
    notifications_[method] = [server, handler](const Json &params) {
      (server->*handler)(protocol::decode<Params>(params));
    };
  }

  /// Calls the method's handler. An unknown method is answered with MethodNotFound, and parameters
  /// that do not decode with InvalidParams. Other exceptions of the handler propagate.
  void dispatch_request(const std::string &method, const Json &params, const Json &id,
                        const rpc::Responder &respond);
  /// Errors: parameters that do not decode; the text is for the log. Unknown notifications are
  /// ignored, as LSP requires.
  Result<void> dispatch_notification(const std::string &method, const Json &params);
  /// Stops every request in flight without answering it.
  void stop_all();

private:
  struct InFlight {
    rpc::Responder respond;
    std::stop_source stop;
  };
  void cancel(const Json &id);

  std::map<std::string, std::function<void(const Json &, rpc::Responder, std::stop_token)>>
      requests_;
  std::map<std::string, std::function<void(const Json &)>> notifications_;
  std::shared_ptr<std::map<Json, InFlight>> in_flight_ =
      std::make_shared<std::map<Json, InFlight>>();
};

} // namespace warpwright::server
