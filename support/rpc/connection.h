// JSON-RPC 2.0 over a byte stream, with LSP's Content-Length framing or a line per message: one
// implementation for all connections between editor, agent, server, runner, workers and trainer.
//
// A Connection owns its stream. Handlers, replies and the closed callback run on the executor of
// the stream (one strand), and send calls must come from there too. JSON-RPC batches are left out,
// because neither LSP nor Warpwright's programs use them.
#pragma once

#include "support/error.h"
#include "support/rpc/frame_reader.h"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace warpwright::rpc {

using Json = nlohmann::json;

/// JSON-RPC's and LSP's codes that the project uses.
enum ErrorCode {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kServerNotInitialized = -32002,
  kRequestCancelled = -32800,
  kContentModified = -32801,
};

struct RpcError {
  int code = kInternalError;
  std::string message;
  Json data; ///< null when absent
};

using Outcome = std::expected<Json, RpcError>;

/// Answer to one request. Later calls are ignored. Copyable; if the last copy is dropped without an
/// answer, the request is answered with an internal error, so that no client waits forever. Call on
/// the strand.
class Responder {
public:
  Responder(std::function<void(Outcome)> send);
  void operator()(Outcome outcome) const;
  /// Leaves the request without an answer, for protocols in which a cancelled request gets none.
  void drop() const;

private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Byte stream: the interface to pipes, sockets, TLS and in-memory tests.
class Stream {
public:
  virtual ~Stream() = default;
  /// Reads at least one byte into [data, data + size); 0 bytes or an error ends the connection.
  virtual void async_read(char *data, std::size_t size,
                          std::function<void(boost::system::error_code, std::size_t)>) = 0;
  virtual void async_write(const std::string &data,
                           std::function<void(boost::system::error_code)>) = 0;
  virtual void close() = 0;
};

/// Stream over a pair of descriptors (pipes, or 0 and 1), which the stream owns.
std::unique_ptr<Stream> make_descriptor_stream(boost::asio::any_io_executor executor, int read_fd,
                                               int write_fd);

/// Limits of a connection for its peer.
struct Limits {
  std::size_t message_bytes = 256u << 20; ///< limit of one received message
  std::size_t unsent_bytes = 0;           ///< waiting for a peer that does not read; 0: no limit
  bool strict = false; ///< a malformed message ends the connection, after its answer
};

class Connection : public std::enable_shared_from_this<Connection> {
public:
  using RequestId = Json; ///< integer or string
  using RequestHandler =
      std::function<void(const std::string &method, Json params, const RequestId &id, Responder)>;
  using NotificationHandler = std::function<void(const std::string &method, Json params)>;
  using Reply = std::function<void(Outcome)>;

  struct Handlers {
    RequestHandler on_request;           ///< unset: every request is answered with MethodNotFound
    NotificationHandler on_notification; ///< unset: dropped
    std::function<void(std::string reason)>
        on_closed; ///< once; an empty reason means a clean end of stream
  };

  static std::shared_ptr<Connection> make(std::unique_ptr<Stream> stream, Handlers handlers,
                                          std::size_t max_message_bytes = 256u << 20,
                                          Framing framing = Framing::ContentLength);

  void start();
  /// `reply` is called exactly once: with the result, the peer's error, or an error when the connection closes.
  /// @return the id, for cancel()
  std::int64_t request(const std::string &method, Json params, Reply reply);
  void notify(const std::string &method, Json params);
  /// Sends `$/cancelRequest`; the peer still answers.
  void cancel(std::int64_t id);
  /// Ends the connection. Messages sent before are still written.
  void close();
  /// Closes without waiting for the peer; on_closed follows, with this reason.
  void abort(const std::string &reason);
  void set_limits(const Limits &limits);
  /// False as soon as the connection ends, also while pending replies get their errors.
  bool is_open() const;
  std::chrono::steady_clock::time_point
  last_received() const; ///< time of the last byte; at first: of the construction
  /// Bytes waiting to be written.
  std::size_t pending_bytes() const;

private:
  struct Impl;
  explicit Connection(std::unique_ptr<Stream> stream, Handlers handlers,
                      std::size_t max_message_bytes, Framing framing);
  std::shared_ptr<Impl> impl_;
};

} // namespace warpwright::rpc
