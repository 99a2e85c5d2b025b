// The only translation unit of this folder that includes Boost.Beast, which takes half a minute
// to compile.
#include "support/http/http_server.h"

#include "support/http/http_session.h"
#include "support/rpc/accept_loop.h"

namespace warpwright::http {
namespace {

using TlsStream = beast::ssl_stream<beast::tcp_stream>;

class Listener final : public Server {
public:
  Listener(const asio::any_io_executor &executor, Handler handler, const ServerLimits &limits,
           std::function<void(const std::string &)> log, std::shared_ptr<asio::ssl::context> tls)
      : accepting_(std::make_shared<rpc::AcceptLoop<tcp>>(executor)),
        shared_(std::make_shared<Shared>(std::move(handler), limits)), log_(std::move(log)),
        tls_(std::move(tls)) {}
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
                             [shared = shared_, tls = tls_](tcp::socket socket) {
                               if (shared->peers < shared->limits.peers)
                                 serve(std::move(socket), shared, tls);
                             },
                         .log = log_});
    return error;
  }

  std::string address() const override {
    const tcp::endpoint local = endpoint();
    const std::string host = local.address().to_string();
    return (local.address().is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(local.port());
  }

  bool is_loopback() const override { return endpoint().address().is_loopback(); }

private:
  static void serve(tcp::socket socket, const std::shared_ptr<Shared> &shared,
                    const std::shared_ptr<asio::ssl::context> &tls) {
    if (tls)
      std::make_shared<Session<TlsStream>>(TlsStream(std::move(socket), *tls), shared)->start();
    else
      std::make_shared<Session<beast::tcp_stream>>(beast::tcp_stream(std::move(socket)), shared)->start();
  }
  tcp::endpoint endpoint() const {
    beast::error_code ignored;
    return accepting_->acceptor().local_endpoint(ignored);
  }

  std::shared_ptr<rpc::AcceptLoop<tcp>> accepting_;
  std::shared_ptr<Shared> shared_;
  std::function<void(const std::string &)> log_;
  std::shared_ptr<asio::ssl::context> tls_; ///< null: no TLS
};

} // namespace

const std::string &Request::header(const std::string &name) const {
  static const std::string none;
  const auto found = headers.find(name);
  return found == headers.end() ? none : found->second;
}

Result<std::unique_ptr<Server>> listen(asio::any_io_executor executor, const std::string &where,
                                       const ServerLimits &limits, Handler handler,
                                       std::function<void(const std::string &)> log,
                                       ssl_ctx_st *tls) {
  auto context = tls ? std::make_shared<asio::ssl::context>(tls) : nullptr;
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
  auto listener =
      std::make_unique<Listener>(executor, std::move(handler), limits, std::move(log), std::move(context));
  if (const beast::error_code failed = listener->open(found.begin()->endpoint()))
    return fail("cannot listen on " + where + ": " + failed.message(),
                "Choose another port, or an address of this host");
  return listener;
}

} // namespace warpwright::http
