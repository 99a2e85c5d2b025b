// Framing, dispatch and bookkeeping of JSON-RPC 2.0.
//
// Broken input is answered as far as the stream allows. Text that is not JSON gets a parse error,
// and the next frame is read. A broken header or an oversize frame ends the connection, because the
// start of the next frame is then unknown. A request whose handler throws is answered with an
// error. A started connection keeps itself alive until it closes.
#include "support/rpc/connection.h"

#include <array>
#include <boost/asio/error.hpp>

namespace warpwright::rpc {

namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
/// Deeper documents are refused: walking them recursively could exhaust the stack.
constexpr int kMaxDepth = 256;

int nesting_depth(std::string_view text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

Json error_json(const RpcError &error) {
  Json json{{"code", error.code}, {"message", error.message}};
  if (!error.data.is_null())
    json["data"] = error.data;
  return json;
}

RpcError error_from_json(const Json &json) {
  RpcError error{kInternalError, "the peer sent an error without a message", nullptr};
  if (!json.is_object())
    return error;
  if (const auto code = json.find("code"); code != json.end() && code->is_number_integer())
    error.code = code->get<int>();
  if (const auto message = json.find("message"); message != json.end() && message->is_string())
    error.message = message->get<std::string>();
  error.data = json.value("data", Json());
  return error;
}

} // namespace

struct Responder::State {
  explicit State(std::function<void(Outcome)> send) : send(std::move(send)) {}
  State(const State &) = delete;
  State &operator=(const State &) = delete;
  ~State() {
    if (send)
      send(std::unexpected(
          RpcError{kInternalError, "the request was dropped without an answer", nullptr}));
  }
  std::function<void(Outcome)> send;
};

Responder::Responder(std::function<void(Outcome)> send)
    : state_(std::make_shared<State>(std::move(send))) {}

void Responder::operator()(Outcome outcome) const {
  if (auto send = std::exchange(state_->send, nullptr))
    send(std::move(outcome));
}

void Responder::drop() const { state_->send = nullptr; }

struct Connection::Impl : std::enable_shared_from_this<Impl> {
  explicit Impl(Framing framing) : framing(framing), frames(limits.message_bytes, framing) {}

  std::unique_ptr<Stream> stream;
  Handlers handlers;
  Limits limits;

  Framing framing;

  std::array<char, kReadBytes> chunk;
  FrameReader frames;
  std::chrono::steady_clock::time_point last_received = std::chrono::steady_clock::now();

  std::string writing, waiting;
  bool write_active = false;
  bool closed = false;
  std::string abort_reason; ///< why abort() closed the stream
  std::string complaint;    ///< the peer's error about unreadable input

  std::int64_t next_id = 1;
  std::map<std::int64_t, Reply> pending;

  void set_limits(const Limits &wanted) {
    limits = wanted;
    frames.set_max_body_bytes(limits.message_bytes);
  }

  /// The pending read keeps `owner` alive.
  void read(std::shared_ptr<Connection> owner) {
    stream->async_read(chunk.data(), chunk.size(),
                       [owner](boost::system::error_code error, std::size_t size) {
                         owner->impl_->on_read(owner, error, size);
                       });
  }

  void on_read(const std::shared_ptr<Connection> &owner, boost::system::error_code error,
               std::size_t size) {
    if (closed)
      return;
    if (error || size == 0)
      return shut(end_reason(error));
    last_received = std::chrono::steady_clock::now();
    frames.append({chunk.data(), size});
    take_frames();
    if (!closed)
      read(owner);
  }

  std::string end_reason(boost::system::error_code error) const {
    if (!abort_reason.empty())
      return abort_reason;
    if (!complaint.empty())
      return complaint;
    const bool clean_end = !error || error == boost::asio::error::eof;
    if (!clean_end)
      return "reading failed: " + error.message();
    return frames.between_messages() ? "" : "the stream ended inside a message";
  }

  void take_frames() {
    while (!closed) {
      auto body = frames.next();
      if (!body) {
        send_error(nullptr, {kInvalidRequest, body.error().message, nullptr});
        return shut(body.error().message);
      }
      if (!*body)
        return;
      on_body(**body);
    }
  }

  /// Answers a body that is not a message of the protocol.
  void refuse(const Json &id, const RpcError &error) {
    send_error(id, error);
    if (limits.strict)
      shut(error.message);
  }

  void on_body(const std::string &body) {
    if (nesting_depth(body) > kMaxDepth)
      return refuse(
          nullptr,
          {kParseError, "the message nests deeper than " + std::to_string(kMaxDepth), nullptr});
    Json message = Json::parse(body, nullptr, /*allow_exceptions=*/false);
    if (message.is_discarded())
      return refuse(nullptr, {kParseError, "the message is not JSON in UTF-8", nullptr});
    if (!message.is_object())
      return refuse(nullptr, {kInvalidRequest, "the message is not a JSON-RPC object", nullptr});
    const auto method = message.find("method");
    const auto id = message.find("id");
    const bool has_id = id != message.end() && (id->is_number_integer() || id->is_string());
    if (method == message.end())
      return has_id || message.contains("error")
                 ? on_reply(message)
                 : refuse(nullptr,
                          {kInvalidRequest, "the message has neither method nor id", nullptr});
    if (!method->is_string() || (id != message.end() && !has_id))
      return refuse(
          has_id ? *id : Json(),
          {kInvalidRequest, "method must be a string and id an integer or a string", nullptr});
    Json params = message.value("params", Json());
    if (has_id)
      on_request(method->get<std::string>(), std::move(params), *id);
    else
      on_notification(method->get<std::string>(), std::move(params));
  }

  void on_request(const std::string &method, Json params, const RequestId &id) {
    const Responder respond([weak = weak_from_this(), id](Outcome outcome) {
      if (const auto impl = weak.lock())
        outcome ? impl->send({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(*outcome)}})
                : impl->send_error(id, outcome.error());
    });
    if (!handlers.on_request)
      return respond(
          std::unexpected(RpcError{kMethodNotFound, "no method '" + method + "' here", nullptr}));
    const auto handler = handlers.on_request; // the call may close the connection and clear `handlers`
    try {
      handler(method, std::move(params), id, respond);
    } catch (const Json::exception &error) {
      respond(std::unexpected(RpcError{kInvalidParams, method + ": " + error.what(), nullptr}));
    } catch (const std::exception &error) {
      respond(std::unexpected(RpcError{kInternalError, method + ": " + error.what(), nullptr}));
    }
  }

  void on_notification(const std::string &method, Json params) {
    const auto handler = handlers.on_notification;
    if (!handler)
      return;
    try {
      handler(method, std::move(params));
    } catch (const std::exception &) {
      // A notification has no answer, so a malformed one is dropped. Handlers that report such
      // errors decode the parameters themselves.
    }
  }

  void on_reply(const Json &message) {
    const auto id = message.find("id");
    if (id == message.end() || !id->is_number_integer()) {
      if (message.contains("error"))
        complaint = "the peer refused: " + error_from_json(message["error"]).message;
      return;
    }
    const auto found = pending.find(id->get<std::int64_t>());
    if (found == pending.end())
      return;
    const Reply reply = std::move(found->second);
    pending.erase(found);
    if (!reply)
      return;
    if (const auto error = message.find("error"); error != message.end() && !error->is_null())
      return reply(std::unexpected(error_from_json(*error)));
    reply(message.value("result", Json()));
  }

  void send_error(const Json &id, const RpcError &error) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"error", error_json(error)}});
  }

  void send(const Json &message) {
    if (closed)
      return;
    waiting += framed(message.dump(-1, ' ', false, Json::error_handler_t::replace), framing);
    if (limits.unsent_bytes && writing.size() + waiting.size() > limits.unsent_bytes)
      return abort("the peer does not read: " + std::to_string(writing.size() + waiting.size()) +
                   " bytes wait for it");
    write();
  }

  void write() {
    if (write_active || waiting.empty())
      return;
    write_active = true;
    writing.swap(waiting);
    waiting.clear();
    stream->async_write(writing, [impl = shared_from_this()](boost::system::error_code error) {
      impl->on_written(error);
    });
  }

  void on_written(boost::system::error_code error) {
    write_active = false;
    writing.clear();
    if (error) {
      waiting.clear();
      stream->close();
      return shut("writing failed: " + error.message());
    }
    write();
    if (closed && !write_active)
      stream->close();
  }

  /// Closes the stream. The pending read then fails and ends the connection.
  void abort(const std::string &reason) {
    if (closed)
      return stream->close();
    if (abort_reason.empty())
      abort_reason = reason;
    waiting.clear();
    stream->close();
  }

  /// Ends the connection for the owner at once; the stream stays open until earlier messages are
  /// written.
  void shut(const std::string &reason) {
    if (std::exchange(closed, true))
      return;
    const auto keep = shared_from_this();
    if (!write_active)
      stream->close();
    for (auto &[id, reply] : std::exchange(pending, {}))
      if (reply)
        reply(std::unexpected(RpcError{kInternalError,
                                       "the connection closed before the answer" +
                                           (reason.empty() ? "" : ": " + reason),
                                       nullptr}));
    const Handlers last = std::exchange(handlers, {});
    if (last.on_closed)
      last.on_closed(reason);
  }
};

Connection::Connection(std::unique_ptr<Stream> stream, Handlers handlers,
                       std::size_t max_message_bytes, Framing framing)
    : impl_(std::make_shared<Impl>(framing)) {
  impl_->stream = std::move(stream);
  impl_->handlers = std::move(handlers);
  impl_->set_limits({.message_bytes = max_message_bytes});
}

std::shared_ptr<Connection> Connection::make(std::unique_ptr<Stream> stream, Handlers handlers,
                                             std::size_t max_message_bytes, Framing framing) {
  return std::shared_ptr<Connection>(
      new Connection(std::move(stream), std::move(handlers), max_message_bytes, framing));
}

void Connection::start() { impl_->read(shared_from_this()); }

std::int64_t Connection::request(const std::string &method, Json params, Reply reply) {
  const std::int64_t id = impl_->next_id++;
  if (impl_->closed) {
    if (reply)
      reply(std::unexpected(RpcError{kInternalError, "the connection is closed", nullptr}));
    return id;
  }
  impl_->pending.emplace(id, std::move(reply));
  Json message{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  if (!params.is_null())
    message["params"] = std::move(params);
  impl_->send(message);
  return id;
}

void Connection::notify(const std::string &method, Json params) {
  Json message{{"jsonrpc", "2.0"}, {"method", method}};
  if (!params.is_null())
    message["params"] = std::move(params);
  impl_->send(message);
}

void Connection::cancel(std::int64_t id) { notify("$/cancelRequest", {{"id", id}}); }

void Connection::close() { impl_->shut(""); }

void Connection::abort(const std::string &reason) { impl_->abort(reason); }

void Connection::set_limits(const Limits &limits) { impl_->set_limits(limits); }

bool Connection::is_open() const { return !impl_->closed; }

std::chrono::steady_clock::time_point Connection::last_received() const {
  return impl_->last_received;
}

std::size_t Connection::pending_bytes() const {
  return impl_->writing.size() + impl_->waiting.size();
}

} // namespace warpwright::rpc
