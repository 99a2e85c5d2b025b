#include "server/mcp/http_transport.h"

#include "analysis/consent/approvals.h"
#include "runner/net/secret_file.h"
#include "runner/net/token.h"
#include "server/mcp/request_headers.h"
#include "support/hash.h"
#include "support/log.h"

#include <fcntl.h>
#include <filesystem>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <unistd.h>

namespace warpwright::mcp {
namespace {

constexpr std::size_t kMostBytes = 64 << 20, kMostPeers = 64;
const http::Headers kJson{{"Content-Type", "application/json"}};

std::string dumped(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json error_message(const Json &id, const rpc::RpcError &error) {
  Json body{{"code", error.code}, {"message", error.message}};
  if (!error.data.is_null())
    body["data"] = error.data;
  Json message{{"jsonrpc", "2.0"}, {"error", std::move(body)}};
  if (!id.is_null())
    message["id"] = id;
  return message;
}

Json message_of(const Json &id, const rpc::Outcome &outcome) {
  if (!outcome)
    return error_message(id, outcome.error());
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", *outcome}};
}

int status_of(const rpc::Outcome &outcome) {
  if (outcome)
    return 200;
  switch (outcome.error().code) {
  case rpc::kMethodNotFound:
    return 404;
  case rpc::kInternalError:
    return 500;
  default:
    return 400;
  }
}

/// The answer to one request: JSON, or events from the first notification on.
struct Reply {
  http::AnswerPtr answer;
  bool is_stream = false, is_done = false;

  void event(const Json &message) {
    if (is_done)
      return;
    if (!std::exchange(is_stream, true))
      answer->begin(200, {{"Content-Type", "text/event-stream"},
                          {"Cache-Control", "no-cache"},
                          {"X-Accel-Buffering", "no"}});
    answer->write("event: message\ndata: " + dumped(message) + "\n\n");
  }
  void finish(const Json &id, const rpc::Outcome &outcome) {
    if (is_done)
      return;
    const Json message = message_of(id, outcome);
    if (!is_stream) {
      is_done = true;
      return answer->send(status_of(outcome), kJson, dumped(message));
    }
    event(message);
    is_done = true;
    answer->end();
  }
};

Result<std::string> new_token(const std::string &path) {
  std::string random(32, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char *>(random.data()), static_cast<int>(random.size())) != 1)
    return fail("OpenSSL has no random numbers");
  const std::string token = sha256_hex(random);
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const std::string line = token + "\n";
  const bool written = file >= 0 && ::write(file, line.data(), line.size()) == ssize_t(line.size());
  if (file >= 0)
    ::close(file);
  if (!written)
    return fail("cannot write the token file " + path, "Name another one with --token-file");
  return token;
}

} // namespace

Result<std::string> http_token(std::string path) {
  if (path.empty()) {
    const auto folder = consent::user_folder("XDG_STATE_HOME", ".local/state");
    if (folder.empty())
      return fail("there is no home folder for the token", "Name a file with --token-file");
    path = (folder / "warpwright/mcp-token").string();
  }
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return new_token(path);
  TRY(runner::net::check_secret_file(path, "token"));
  return runner::net::read_token(path);
}

Result<std::unique_ptr<HttpTransport>> HttpTransport::open(McpServer &server,
                                                           boost::asio::any_io_executor strand,
                                                           const std::string &where,
                                                           std::string token) {
  std::unique_ptr<HttpTransport> transport(new HttpTransport(server, std::move(token)));
  transport->listener_ = TRY(http::listen(
      strand, where, {.body_bytes = kMostBytes, .peers = kMostPeers},
      [self = transport.get()](const http::Request &request, const http::AnswerPtr &answer) {
        self->handle(request, answer);
      },
      [](const std::string &line) { log::warning(line); }));
  if (!transport->listener_->is_loopback())
    return fail(where + " can be reached from other machines",
                "Write 127.0.0.1:PORT, and forward the port over ssh");
  return transport;
}

void HttpTransport::handle(const http::Request &request, const http::AnswerPtr &answer) {
  if (request.target != "/mcp")
    return answer->send(404, {}, "the endpoint is /mcp\n");
  if (!is_local_host(request.header("host")))
    return answer->send(403, {}, "the Host is not this machine\n");
  if (!is_local_origin(request.header("origin")))
    return answer->send(403, {}, "pages of other sites may not use this endpoint\n");
  const std::string shown = request.header("authorization"), expected = "Bearer " + token_;
  if (shown.size() != expected.size() ||
      CRYPTO_memcmp(shown.data(), expected.data(), expected.size()) != 0)
    return answer->send(401, {{"WWW-Authenticate", "Bearer"}}, "the bearer token is missing or wrong\n");
  if (request.method != "POST")
    return answer->send(405, {{"Allow", "POST"}}, "only POST\n");
  if (!request.header("content-type").starts_with("application/json"))
    return answer->send(415, {}, "the Content-Type must be application/json\n");
  const Json message = Json::parse(request.body, nullptr, false);
  if (message.is_discarded())
    return answer->send(400, kJson, dumped(error_message(nullptr, {rpc::kParseError, "the body is not JSON", {}})));
  take(request, message, answer);
}

void HttpTransport::take(const http::Request &request, const Json &message,
                         const http::AnswerPtr &answer) {
  const auto reply = std::make_shared<Reply>(answer);
  const Json id = message.is_object() ? message.value("id", Json()) : Json();
  const bool has_id = id.is_string() || id.is_number_integer();
  if (!message.is_object() || !message.value("method", Json()).is_string() ||
      (!has_id && !id.is_null()))
    return reply->finish(nullptr, std::unexpected(rpc::RpcError{
                                      rpc::kInvalidRequest,
                                      "the body must be one request or notification", {}}));
  const std::string method = message["method"];
  const Json params = message.value("params", Json());
  if (!has_id) {
    if (method == "notifications/cancelled")
      cancel(params);
    return answer->send(202, {}, "");
  }
  if (const auto mismatch = header_error(request, method, params))
    return reply->finish(id, std::unexpected(*mismatch));
  const auto exchange = std::make_shared<Exchange>();
  exchange->id = id;
  open_.emplace(exchange, is_modern(params));
  const std::weak_ptr<Exchange> weak = exchange;
  exchange->respond = [this, weak, reply, id](const rpc::Outcome &outcome) {
    open_.erase(weak.lock());
    reply->finish(id, outcome);
  };
  exchange->notify = [reply](const std::string &name, const Json &content) {
    reply->event({{"jsonrpc", "2.0"}, {"method", name}, {"params", content}});
  };
  answer->on_lost([this, weak, gone = std::weak_ptr(reply)] {
    if (const auto lost = gone.lock())
      lost->is_done = true;
    if (const auto lost = weak.lock()) {
      lost->stop.request_stop();
      open_.erase(lost);
    }
  });
  LegacySession session{.is_initialized = true};
  try {
    server_.handle(method, params, session, exchange);
  } catch (const std::exception &error) {
    exchange->respond(
        std::unexpected(rpc::RpcError{rpc::kInvalidParams, method + ": " + error.what(), {}}));
  }
}

void HttpTransport::cancel(const Json &params) {
  const Json id = params.is_object() ? params.value("requestId", Json()) : Json();
  std::vector<ExchangePtr> named;
  for (const auto &[exchange, modern] : open_)
    if (!modern && exchange->id == id)
      named.push_back(exchange);
  if (named.size() != 1)
    return;
  named.front()->stop.request_stop();
  open_.erase(named.front()); // its connection closes when the call has ended
}

} // namespace warpwright::mcp
