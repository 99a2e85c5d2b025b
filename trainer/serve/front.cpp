#include "trainer/serve/front.h"

#include "runner/net/secret_file.h"
#include "runner/net/tls_context.h"
#include "support/log.h"
#include "trainer/serve/message.h"

namespace warpwright::trainer {
namespace {

constexpr std::string_view kTokenPath = "/t/", kBearer = "Bearer ";
constexpr std::chrono::seconds kIdle{120}; ///< of an HTTP connection that clients keep

Result<runner::net::TlsContext> tls_of(const ServeConfig &config) {
  if (config.certificate.empty() != config.key.empty())
    return fail("serve.certificate and serve.key belong together", "Name both, or neither");
  if (config.certificate.empty())
    return runner::net::TlsContext();
  TRY(runner::net::check_secret_file(config.key, "key"));
  return runner::net::make_server_context({config.certificate, config.key, ""});
}

} // namespace

Result<std::unique_ptr<ServeFront>> ServeFront::open(EnvironmentService &service,
                                                     boost::asio::any_io_executor strand,
                                                     const ServeConfig &config) {
  std::unique_ptr<ServeFront> front(new ServeFront(service));
  if (!config.token_file.empty()) {
    TRY(runner::net::check_secret_file(config.token_file, "token file"));
    front->tokens_ = TRY(runner::net::TokenList::load(config.token_file));
  }
  auto tls = TRY(tls_of(config));
  const bool is_tls = tls != nullptr;
  front->server_ = TRY(http::listen(
      strand, config.listen,
      {.body_bytes = kMessageBytes, .peers = 2 * std::size_t(config.sessions) + 256, .idle = kIdle},
      [self = front.get()](const http::Request &request, const http::AnswerPtr &answer) {
        self->handle(request, answer);
      },
      [](const std::string &line) { log::warning(line); }, tls.release()));
  if (!front->server_->is_loopback() && (!is_tls || !front->tokens_))
    return fail("other machines can reach " + config.listen + ", and there is no " +
                    (is_tls ? "token file" : "TLS"),
                "Give --cert, --key and --token-file, or listen on 127.0.0.1 and forward the port over ssh");
  front->url_ = (is_tls ? "https://" : "http://") + front->server_->address();
  return front;
}

std::optional<std::string> ServeFront::client_of(const http::Request &request, std::string &path) const {
  std::string token;
  if (const std::string &shown = request.header("authorization"); shown.starts_with(kBearer))
    token = shown.substr(kBearer.size());
  if (path.starts_with(kTokenPath)) {
    const std::size_t end = std::min(path.find('/', kTokenPath.size()), path.size());
    token = path.substr(kTokenPath.size(), end - kTokenPath.size());
    path = path.substr(end);
  }
  if (!tokens_)
    return request.header("origin").empty() ? std::optional<std::string>("local") : std::nullopt;
  const std::string owner = tokens_->owner_of(token);
  return owner.empty() ? std::nullopt : std::optional(owner);
}

void ServeFront::handle(const http::Request &request, const http::AnswerPtr &answer) {
  std::string path = request.target;
  const auto client = client_of(request, path);
  if (!client && tokens_)
    return answer->send(401, {{"WWW-Authenticate", "Bearer"}}, "the bearer token is missing or wrong\n");
  if (!client)
    return answer->send(403, {}, "pages of browsers may not use this service\n");
  if (!openenv_.handle(request, path, *client, answer) &&
      !nemo_gym_.handle(request, path, *client, answer))
    answer->send(404, {}, "there is no such path; GET /openapi.json lists them\n");
}

} // namespace warpwright::trainer
