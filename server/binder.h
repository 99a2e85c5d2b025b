// The typed handler table: method name -> decode parameters, call a member function, encode its
// answer.
//
// It also keeps the requests that are being answered, so that `$/cancelRequest` is answered at once
// and the work behind it is told to stop; a handler never needs to know. Thread: the strand.
#pragma once

#include "server/protocol/types.h"
#include "support/rpc/connection.h"

#include <stop_token>

namespace warpwright::server {

/// LSP's code for a request that was understood and could not be done: the message is for the user.
inline constexpr int kRequestFailed = -32803;

inline std::unexpected<rpc::RpcError> refuse(int code, std::string message) {
  return std::unexpected(rpc::RpcError{code, std::move(message), nullptr});
}

/// Answers one request with a value of T or an error; keep it, call it once, later if need be.
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
  /// Asks to stop when the client cancelled the request.
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

  /// Throws what decoding throws; the connection answers it as InvalidParams.
  void dispatch_request(const std::string &method, const Json &params, const Json &id,
                        const rpc::Responder &respond);
  /// Errors: parameters that do not decode, for the log. Unknown notifications are ignored, as LSP
  /// asks.
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
