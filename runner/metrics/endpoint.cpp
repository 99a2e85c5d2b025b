// The only translation unit that includes Boost.Beast, which takes half a minute to compile.
#include "runner/metrics/endpoint.h"
#include "support/rpc/accept_loop.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

namespace warpwright::runner::metrics {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

constexpr std::chrono::seconds kPatience{10};
constexpr std::size_t kMaxPeers = 32, kMaxHeaderBytes = 8 * 1024;

struct Shared {
  std::function<std::string()> text;
  std::size_t peers = 0;
};

/// One connection; lives as long as an operation is pending.
class Session : public std::enable_shared_from_this<Session> {
public:
  Session(tcp::socket socket, std::shared_ptr<Shared> shared)
      : stream_(std::move(socket)), shared_(std::move(shared)) {
    ++shared_->peers;
  }
  ~Session() { --shared_->peers; }

  void read() {
    parser_.emplace();
    parser_->header_limit(kMaxHeaderBytes);
    parser_->body_limit(0);
    stream_.expires_after(kPatience);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code error, std::size_t) {
                       if (!error)
                         self->answer(self->parser_->get());
                     });
  }

private:
  void answer(const http::request<http::empty_body> &request) {
    response_ = {};
    response_.version(request.version());
    response_.keep_alive(request.keep_alive());
    response_.set(http::field::content_type, "text/plain; charset=utf-8");
    const std::string target(request.target().substr(0, request.target().find('?')));
    if (request.method() != http::verb::get && request.method() != http::verb::head)
      refuse(http::status::method_not_allowed, "only GET\n");
    else if (target == "/healthz")
      response_.body() = "ok\n";
    else if (target == "/metrics") {
      response_.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
      response_.body() = shared_->text();
    } else
      refuse(http::status::not_found, "/metrics and /healthz are all there is\n");
    response_.prepare_payload();
    if (request.method() == http::verb::head)
      response_.body().clear();
    http::async_write(stream_, response_,
                      [self = shared_from_this()](beast::error_code error, std::size_t) {
                        if (!error && self->response_.keep_alive())
                          self->read();
                        else
                          self->stream_.socket().shutdown(tcp::socket::shutdown_send, error);
                      });
  }

  void refuse(http::status status, const char *why) {
    response_.result(status);
    response_.body() = why;
  }

  beast::tcp_stream stream_;
  std::shared_ptr<Shared> shared_;
  beast::flat_buffer buffer_{kMaxHeaderBytes};
  std::optional<http::request_parser<http::empty_body>> parser_;
  http::response<http::string_body> response_;
};

class Listener final : public Endpoint {
public:
  Listener(asio::any_io_executor executor, std::function<std::string()> text, Log log)
      : accepting_(std::make_shared<rpc::AcceptLoop<tcp>>(executor)),
        shared_(std::make_shared<Shared>()), log_(std::move(log)) {
    shared_->text = std::move(text);
  }
  ~Listener() override { accepting_->close(); }

  beast::error_code open(const tcp::endpoint &where) {
    tcp::acceptor &acceptor = accepting_->acceptor();
    beast::error_code error;
    acceptor.open(where.protocol(), error);
    if (!error)
      acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error)
      acceptor.bind(where, error);
    if (!error)
      acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (!error)
      accepting_->start({.on_socket =
                             [shared = shared_](tcp::socket socket) {
                               if (shared->peers < kMaxPeers)
                                 std::make_shared<Session>(std::move(socket), shared)->read();
                             },
                         .log = log_});
    return error;
  }

  std::string address() const override {
    beast::error_code error;
    const tcp::endpoint local = accepting_->acceptor().local_endpoint(error);
    const std::string host = local.address().to_string();
    return (local.address().is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(local.port());
  }

private:
  std::shared_ptr<rpc::AcceptLoop<tcp>> accepting_;
  std::shared_ptr<Shared> shared_;
  Log log_;
};

} // namespace

Result<std::unique_ptr<Endpoint>> open_endpoint(asio::any_io_executor executor,
                                                const std::string &where,
                                                std::function<std::string()> text, Log log) {
  const auto colon = where.rfind(':');
  std::string host = where.substr(0, colon == std::string::npos ? 0 : colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  if (host.empty())
    return fail("the address " + where + " is not understood",
                "Write HOST:PORT, as 127.0.0.1:9464");
  beast::error_code error;
  tcp::resolver resolver(executor);
  const auto found =
      resolver.resolve(host, where.substr(colon + 1),
                       tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty())
    return fail("cannot listen on " + where + ": " + error.message(), "Write HOST:PORT");
  auto listener = std::make_unique<Listener>(executor, std::move(text), std::move(log));
  if (const beast::error_code failed = listener->open(found.begin()->endpoint()))
    return fail("cannot listen on " + where + ": " + failed.message(),
                "Choose another port, or an address of this host");
  return listener;
}

} // namespace warpwright::runner::metrics
