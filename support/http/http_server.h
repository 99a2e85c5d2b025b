// HTTP/1.1 server, with or without TLS. A connection may become a WebSocket. It serves metrics
// for operators, the Model Context Protocol for agents on the same machine, environments for
// reinforcement learning.
//
// A handler answers each request at once or later, as a whole or in parts. Slow peers, and those
// beyond a limit, are dropped. Thread: the executor's.
#pragma once

#include "support/error.h"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

struct ssl_ctx_st; ///< OpenSSL's SSL_CTX

namespace warpwright::http {

using Headers = std::map<std::string, std::string>;

struct Request {
  std::string method; ///< "POST"
  std::string target; ///< path without the query
  Headers headers;    ///< names in lower case; of repeated fields the last
  std::string body;

  /// Empty: the request has no such field. @param name in lower case
  const std::string &header(const std::string &name) const;
};

/// The server's end of a WebSocket. Text messages are sent in order; a peer that answers no ping is dropped. It must not
/// outlive the executor's loop.
class WebSocket {
public:
  virtual ~WebSocket() = default;
  /// Sends a message; ignored after close() and after the peer has gone.
  virtual void send(std::string text) = 0;
  /// Closes the connection after the messages so far. @param code as in RFC 6455, section 7.4: 1000, 1013, ...
  virtual void close(std::uint16_t code, std::string reason) = 0;
};

using WebSocketPtr = std::shared_ptr<WebSocket>;

struct WebSocketHandlers {
  std::function<void(std::string text)> on_message;
  std::function<void()> on_closed; ///< the last call; for whatever reason the connection ended
};

/// The answer to one request. An answer that is dropped unfinished ends the connection.
class Answer {
public:
  virtual ~Answer() = default;
  /// The whole answer. A HEAD request gets it without the body.
  virtual void send(int status, const Headers &headers, std::string body) = 0;
  /// Begins an answer in parts.
  virtual void begin(int status, const Headers &headers) = 0;
  virtual void write(std::string part) = 0;
  virtual void end() = 0;
  /// Sets a callback for a peer that disconnects before the answer is complete; called at most once.
  virtual void on_lost(std::function<void()> lost) = 0;
  /// Answers a WebSocket handshake. Null: the request is none, and is still to be answered.
  virtual WebSocketPtr upgrade(WebSocketHandlers handlers) = 0;
};

using AnswerPtr = std::shared_ptr<Answer>;
using Handler = std::function<void(const Request &, const AnswerPtr &)>;

struct ServerLimits {
  std::size_t body_bytes = 0; ///< of a request, and of a WebSocket's message
  std::size_t peers = 32;     ///< connections at a time; others are closed at once
  std::chrono::seconds idle{10}; ///< longest wait for the next request of a connection
};

class Server {
public:
  virtual ~Server() = default;
  /// "127.0.0.1:9464", with the actual port if port 0 was requested.
  virtual std::string address() const = 0;
  /// Whether only processes of this machine can connect.
  virtual bool is_loopback() const = 0;
};

/// Opens a server. @param where "HOST:PORT", "[::1]:9464"
/// @param log called when connections cannot be accepted, and when they can again; may be empty
/// @param tls context with the server's certificate, which the server takes over; null: no TLS
/// Errors: an address that is not understood, or cannot be bound.
Result<std::unique_ptr<Server>> listen(boost::asio::any_io_executor executor,
                                       const std::string &where, const ServerLimits &limits,
                                       Handler handler,
                                       std::function<void(const std::string &)> log = {},
                                       ssl_ctx_st *tls = nullptr);

} // namespace warpwright::http
