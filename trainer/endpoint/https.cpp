#include "trainer/endpoint/https.h"

#include "runner/net/tls_context.h"
#include "support/version.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <openssl/x509v3.h>

namespace warpwright::trainer {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using TlsStream = asio::ssl::stream<beast::tcp_stream>;

constexpr std::chrono::seconds kConnectLimit{15};
constexpr std::size_t kBodyLimit = 64u << 20;
constexpr std::size_t kReadBytes = 16 << 10;

runner::net::TlsTarget target_of(const EndpointUrl &url, const std::string &ca) {
  return {.host = url.host, .port = url.port, .ca = ca};
}

/// One request with its event loop, deadline and stop token.
class Call {
public:
  Call(const EndpointUrl &url, const std::string &ca, std::stop_token stop)
      : url_(url), ca_(ca), stop_(std::move(stop)) {}

  Result<HttpAnswer> run(const http::request<http::string_body> &message,
                         const HttpRequest &request, const OnPiece &on_piece) {
    deadline_ = std::chrono::steady_clock::now() + request.total;
    idle_ = request.idle;
    if (!url_.tls) {
      beast::tcp_stream stream(loop_);
      auto connected = connect(stream);
      return connected ? talk(stream, stream, message, on_piece)
                       : std::unexpected(connected.error());
    }
    const auto target = target_of(url_, ca_);
    auto made = TRY(runner::net::make_client_context(target));
    SSL_CTX_set_min_proto_version(made.get(), TLS1_2_VERSION);
    asio::ssl::context context(made.release());
    TlsStream stream(loop_, context);
    TRY(runner::net::expect_server_name(stream.native_handle(), target));
    TRY(connect(beast::get_lowest_layer(stream)));
    TRY(shake_hands(stream));
    return talk(stream, beast::get_lowest_layer(stream), message, on_piece);
  }

private:
  std::string where() const { return url_.host + ":" + url_.port; }

  /// Starts an operation and runs the loop until the operation is done. @return its error; after a stop:
  /// operation_aborted
  template <class Start>
  error_code await(beast::tcp_stream &socket, std::chrono::milliseconds limit, Start start) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline_ - std::chrono::steady_clock::now());
    if (left.count() <= 0)
      return beast::error::timeout;
    socket.expires_after(std::min(limit, left));
    std::optional<error_code> done;
    start([&done](error_code error) { done = error; });
    const std::stop_callback hang_up(
        stop_, [this, &socket] { asio::post(loop_, [&socket] { socket.cancel(); }); });
    loop_.restart();
    while (!done && loop_.run_one() > 0)
      ;
    return stop_.stop_requested() ? error_code(asio::error::operation_aborted)
                                  : done.value_or(asio::error::operation_aborted);
  }

  Error explain(const std::string &what, error_code error) const {
    if (stop_.stop_requested())
      return {"the request to " + where() + " was stopped", ""};
    if (error == beast::error::timeout)
      return {where() + " did not answer in time (" + what + ")",
              "Raise idle_s or answer_s in [endpoint] if the model is slow"};
    return {what + " " + where() + ": " + error.message(), ""};
  }

  Result<void> connect(beast::tcp_stream &socket) {
    tcp::resolver resolver(loop_);
    error_code error;
    const auto addresses = resolver.resolve(url_.host, url_.port, error);
    if (!error)
      error = await(socket, kConnectLimit, [&](auto done) {
        socket.async_connect(addresses, [done](error_code why, const auto &) { done(why); });
      });
    if (error)
      return std::unexpected(explain("cannot connect to", error));
    return {};
  }

  Result<void> shake_hands(TlsStream &stream) {
    const error_code error = await(beast::get_lowest_layer(stream), kConnectLimit, [&](auto done) {
      stream.async_handshake(asio::ssl::stream_base::client, done);
    });
    if (!error)
      return {};
    const long verified = SSL_get_verify_result(stream.native_handle());
    if (verified != X509_V_OK)
      return fail("the certificate of " + where() +
                      " is refused: " + X509_verify_cert_error_string(verified),
                  "Name its authority's PEM file as ca in [endpoint] if you trust it");
    return std::unexpected(explain("no TLS with", error));
  }

  template <class Stream>
  Result<HttpAnswer> talk(Stream &stream, beast::tcp_stream &socket,
                          const http::request<http::string_body> &message,
                          const OnPiece &on_piece) {
    error_code error = await(socket, idle_, [&](auto done) {
      http::async_write(stream, message, [done](error_code why, std::size_t) { done(why); });
    });
    if (error)
      return std::unexpected(explain("cannot send to", error));
    beast::flat_buffer buffer;
    buffer.reserve(kReadBytes);
    http::response_parser<http::string_body> parser;
    parser.body_limit(kBodyLimit);
    std::size_t seen = 0;
    while (!parser.is_done()) {
      error = await(socket, idle_, [&](auto done) {
        http::async_read_some(stream, buffer, parser,
                              [done](error_code why, std::size_t) { done(why); });
      });
      // Servers that end the body by closing the connection often omit TLS's close_notify.
      if (error == asio::ssl::error::stream_truncated || error == asio::error::eof ||
          error == http::error::end_of_stream) {
        error_code end;
        parser.put_eof(end);
        if (!end && parser.is_done())
          break;
        return std::unexpected(Error{where() + " closed the line in the middle of its answer", ""});
      }
      if (error)
        return std::unexpected(explain("cannot read from", error));
      const std::string &body = parser.get().body();
      if (parser.is_header_done() && parser.get().result_int() == 200 && body.size() > seen &&
          on_piece && !on_piece(std::string_view(body).substr(seen)))
        break;
      seen = body.size();
    }
    HttpAnswer answer;
    auto &head = parser.get();
    answer.status = static_cast<int>(head.result_int());
    answer.content_type = std::string(head[http::field::content_type]);
    answer.retry_after = std::string(head[http::field::retry_after]);
    answer.body = std::move(head.body());
    return answer;
  }

  EndpointUrl url_;
  std::string ca_;
  std::stop_token stop_;
  asio::io_context loop_{1};
  std::chrono::steady_clock::time_point deadline_;
  std::chrono::milliseconds idle_{};
};

class Https final : public HttpTransport {
public:
  Https(EndpointUrl url, std::string ca, Secret key)
      : url_(std::move(url)), ca_(std::move(ca)), key_(std::move(key)) {}

  Result<HttpAnswer> post(const HttpRequest &request, const OnPiece &on_piece,
                          std::stop_token stop) override {
    http::request<http::string_body> message{http::verb::post, url_.path + request.path, 11};
    message.set(http::field::host, url_.port == "443" ? url_.host : url_.host + ":" + url_.port);
    message.set(http::field::user_agent, "warpwright/" + version());
    message.set(http::field::content_type, "application/json");
    message.set(http::field::accept, request.stream ? "text/event-stream" : "application/json");
    message.set(http::field::connection, "close");
    if (!key_.empty())
      message.set(http::field::authorization, "Bearer " + key_.reveal());
    message.body() = request.body;
    message.prepare_payload();
    return Call(url_, ca_, std::move(stop)).run(message, request, on_piece);
  }

private:
  EndpointUrl url_;
  std::string ca_;
  Secret key_;
};

} // namespace

Result<std::unique_ptr<HttpTransport>> make_https(const EndpointConfig &config, Secret key) {
  auto url = TRY(parse_endpoint_url(config.url));
  if (url.tls)
    TRY(runner::net::make_client_context(target_of(url, config.ca)));
  return std::make_unique<Https>(std::move(url), config.ca, std::move(key));
}

} // namespace warpwright::trainer
