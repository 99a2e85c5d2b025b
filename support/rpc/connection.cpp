// Framing, dispatch and bookkeeping of JSON-RPC 2.0.
//
// Broken input is answered as far as the stream allows: text that is no JSON gets a parse error and
// the next frame is read; a broken header or an oversize frame ends the connection, because the
// start of the next frame is then unknown. Requests that a handler throws on are answered: this is
// one of the three places where third-party exceptions are caught. A started connection keeps
// itself alive until it closes.
#include "support/rpc/connection.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <csignal>
#include <strings.h>
#include <unistd.h>

namespace warpwright::rpc {

namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kMaxHeaderBytes = 4 * 1024;
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

/// The value of Content-Length in a header block, lines separated by CR LF.
Result<std::size_t> content_length(std::string_view header) {
  constexpr std::string_view kName = "Content-Length:";
  while (!header.empty()) {
    const auto end = header.find("\r\n");
    std::string_view line = header.substr(0, end);
    header.remove_prefix(end == std::string_view::npos ? header.size() : end + 2);
    if (line.size() < kName.size() || ::strncasecmp(line.data(), kName.data(), kName.size()) != 0)
      continue;
    line.remove_prefix(kName.size());
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t'))
      line.remove_prefix(1);
    std::size_t value = 0;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc() || rest == line.data() ||
        std::string_view(rest, line.data() + line.size() - rest).find_first_not_of(" \t") !=
            std::string_view::npos)
      return fail("the Content-Length header holds no number: '" + std::string(line) + "'");
    return value;
  }
  return fail("a message header has no Content-Length");
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

class DescriptorStream final : public Stream {
public:
  DescriptorStream(const boost::asio::any_io_executor &executor, int read_fd, int write_fd)
      : reader_(executor, read_fd), writer_(executor, write_fd) {}

  void async_read(char *data, std::size_t size,
                  std::function<void(boost::system::error_code, std::size_t)> done) override {
    reader_.async_read_some(boost::asio::buffer(data, size), std::move(done));
  }
  void async_write(const std::string &data,
                   std::function<void(boost::system::error_code)> done) override {
    boost::asio::async_write(
        writer_, boost::asio::buffer(data),
        [done = std::move(done)](boost::system::error_code error, std::size_t) { done(error); });
  }
  void close() override {
    boost::system::error_code ignored; // closing is best effort: there is no one left to tell
    reader_.close(ignored);
    writer_.close(ignored);
  }

private:
  boost::asio::posix::stream_descriptor reader_, writer_;
};

} // namespace

std::unique_ptr<Stream> make_descriptor_stream(boost::asio::any_io_executor executor, int read_fd,
                                               int write_fd) {
  // A peer that is gone must be an error of the write, not a signal. A handler of the program's own
  // is kept.
  struct sigaction current{};
  if (::sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL)
    ::signal(SIGPIPE, SIG_IGN);
  return std::make_unique<DescriptorStream>(executor, read_fd,
                                            read_fd == write_fd ? ::dup(write_fd) : write_fd);
}

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

struct Connection::Impl : std::enable_shared_from_this<Impl> {
  std::unique_ptr<Stream> stream;
  Handlers handlers;
  std::size_t max_message_bytes;

  std::array<char, kReadBytes> chunk;
  std::string inbox;
  std::optional<std::size_t> body_bytes; ///< of the frame whose header was read

  std::string writing, waiting;
  bool write_active = false;
  bool closed = false;

  std::int64_t next_id = 1;
  std::map<std::int64_t, Reply> pending;

  /// The pending read is what keeps `owner` alive.
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
    inbox.append(chunk.data(), size);
    take_frames();
    if (!closed)
      read(owner);
  }

  std::string end_reason(boost::system::error_code error) const {
    const bool clean_end = !error || error == boost::asio::error::eof;
    if (!clean_end)
      return "reading failed: " + error.message();
    return inbox.empty() && !body_bytes ? "" : "the stream ended inside a message";
  }

  void take_frames() {
    std::size_t position = 0;
    while (!closed) {
      if (!body_bytes) {
        const auto end = std::string_view(inbox).substr(position, kMaxHeaderBytes).find("\r\n\r\n");
        if (end == std::string_view::npos) {
          if (inbox.size() - position >= kMaxHeaderBytes)
            return shut("a message header is longer than " + std::to_string(kMaxHeaderBytes) +
                        " bytes");
          break;
        }
        const auto length = content_length(std::string_view(inbox).substr(position, end));
        if (!length)
          return shut(length.error().message);
        if (*length > max_message_bytes)
          return shut("a message of " + std::to_string(*length) + " bytes is over the limit of " +
                      std::to_string(max_message_bytes));
        body_bytes = *length;
        position += end + 4;
      }
      if (inbox.size() - position < *body_bytes)
        break;
      const std::string body = inbox.substr(position, *body_bytes);
      position += *body_bytes;
      body_bytes.reset();
      on_body(body);
    }
    inbox.erase(0, position);
  }

  void on_body(const std::string &body) {
    if (nesting_depth(body) > kMaxDepth)
      return send_error(
          nullptr,
          {kParseError, "the message nests deeper than " + std::to_string(kMaxDepth), nullptr});
    Json message = Json::parse(body, nullptr, /*allow_exceptions=*/false);
    if (message.is_discarded())
      return send_error(nullptr, {kParseError, "the message is not JSON", nullptr});
    if (!message.is_object())
      return send_error(nullptr,
                        {kInvalidRequest, "the message is not a JSON-RPC object", nullptr});
    const auto method = message.find("method");
    const auto id = message.find("id");
    const bool has_id = id != message.end() && (id->is_number_integer() || id->is_string());
    if (method == message.end())
      return has_id || message.contains("error")
                 ? on_reply(message)
                 : send_error(nullptr,
                              {kInvalidRequest, "the message has neither method nor id", nullptr});
    if (!method->is_string() || (id != message.end() && !has_id))
      return send_error(
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
    const auto handler = handlers.on_request; // it may close the connection and with it `handlers`
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
      // A notification has no answer, so a malformed one can only be dropped; handlers that can say
      // more decode for themselves and report.
    }
  }

  void on_reply(const Json &message) {
    const auto id = message.find("id");
    if (id == message.end() || !id->is_number_integer())
      return;
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
    const std::string body = message.dump(-1, ' ', false, Json::error_handler_t::replace);
    waiting += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
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

  /// Ends it for the owner at once; the stream stays open until what was sent before is written.
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
                       std::size_t max_message_bytes)
    : impl_(std::make_shared<Impl>()) {
  impl_->stream = std::move(stream);
  impl_->handlers = std::move(handlers);
  impl_->max_message_bytes = max_message_bytes;
}

std::shared_ptr<Connection> Connection::make(std::unique_ptr<Stream> stream, Handlers handlers,
                                             std::size_t max_message_bytes) {
  return std::shared_ptr<Connection>(
      new Connection(std::move(stream), std::move(handlers), max_message_bytes));
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

std::size_t Connection::pending_bytes() const {
  return impl_->writing.size() + impl_->waiting.size();
}

} // namespace warpwright::rpc
