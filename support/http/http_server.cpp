// The only translation unit that includes Boost.Beast, which takes half a minute to compile.
#include "support/http/http_server.h"

#include "support/rpc/accept_loop.h"

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cctype>
#include <cstdio>
#include <deque>
#include <optional>
#include <sstream>
#include <utility>

namespace warpwright::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace parts = beast::http;
using asio::ip::tcp;

/// Time for a peer to send a request or to take a part of an answer.
constexpr std::chrono::seconds kPatience{10};
constexpr std::size_t kMaxHeaderBytes = 8 * 1024;

struct Shared {
  Handler handler;
  ServerLimits limits;
  std::size_t peers = 0;
};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

Request request_of(parts::request<parts::string_body> &&message) {
  Request request;
  request.method = message.method_string();
  request.target = message.target().substr(0, message.target().find('?'));
  for (const auto &field : message)
    request.headers[lower_case(field.name_string())] = field.value();
  request.body = std::move(message.body());
  return request;
}

/// One connection; lives as long as an operation or an answer is pending.
class Session : public std::enable_shared_from_this<Session> {
public:
  Session(tcp::socket socket, std::shared_ptr<Shared> shared)
      : stream_(std::move(socket)), shared_(std::move(shared)) {
    ++shared_->peers;
  }
  ~Session() { --shared_->peers; }

  void read();
  void send(int status, const Headers &headers, std::string body);
  void begin(int status, const Headers &headers);
  void write(std::string bytes);
  void end();
  void on_lost(std::function<void()> lost);
  /// The handler dropped the answer: without its end the connection is of no more use.
  void abandon() {
    if (answering_)
      close();
  }

private:
  template <class Body>
  void set_head(parts::response<Body> &response, int status, const Headers &headers) const;
  void take(parts::request<parts::string_body> message);
  void write_next();
  void watch();
  void finish();
  void lose();
  void close() {
    beast::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.close();
  }

  beast::tcp_stream stream_;
  std::shared_ptr<Shared> shared_;
  beast::flat_buffer buffer_;
  std::optional<parts::request_parser<parts::string_body>> parser_;
  std::shared_ptr<void> writing_; ///< what an operation sends
  std::deque<std::string> waiting_;
  std::function<void()> lost_;
  bool is_head_ = false, keep_alive_ = false;
  bool answering_ = false; ///< a request has no complete answer yet
  bool ending_ = false;    ///< the last part is in `waiting_`
};

class SessionAnswer final : public Answer {
public:
  explicit SessionAnswer(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  ~SessionAnswer() override {
    if (!complete_)
      session_->abandon();
  }
  void send(int status, const Headers &headers, std::string body) override {
    complete_ = true;
    session_->send(status, headers, std::move(body));
  }
  void begin(int status, const Headers &headers) override { session_->begin(status, headers); }
  void write(std::string part) override { session_->write(std::move(part)); }
  void end() override {
    complete_ = true;
    session_->end();
  }
  void on_lost(std::function<void()> lost) override { session_->on_lost(std::move(lost)); }

private:
  std::shared_ptr<Session> session_;
  bool complete_ = false;
};

void Session::read() {
  parser_.emplace();
  parser_->header_limit(kMaxHeaderBytes);
  parser_->body_limit(shared_->limits.body_bytes);
  stream_.expires_after(kPatience);
  parts::async_read(stream_, buffer_, *parser_,
                    [self = shared_from_this()](beast::error_code error, std::size_t) {
                      if (!error)
                        return self->take(self->parser_->release());
                      self->answering_ = true;
                      self->keep_alive_ = false;
                      if (error == parts::error::body_limit)
                        self->send(413, {}, "the request is too large\n");
                      else
                        self->close();
                    });
}

void Session::take(parts::request<parts::string_body> message) {
  stream_.expires_never();
  is_head_ = message.method() == parts::verb::head;
  keep_alive_ = message.keep_alive() && message.version() >= 11;
  answering_ = true;
  const auto answer = std::make_shared<SessionAnswer>(shared_from_this());
  shared_->handler(request_of(std::move(message)), answer);
}

template <class Body>
void Session::set_head(parts::response<Body> &response, int status, const Headers &headers) const {
  response.version(11);
  response.result(static_cast<unsigned>(status));
  response.keep_alive(keep_alive_);
  for (const auto &[name, value] : headers)
    response.set(name, value);
}

void Session::send(int status, const Headers &headers, std::string body) {
  if (!answering_)
    return;
  auto response = std::make_shared<parts::response<parts::string_body>>();
  set_head(*response, status, headers);
  if (!headers.contains("Content-Type") && !body.empty())
    response->set(parts::field::content_type, "text/plain; charset=utf-8");
  response->body() = std::move(body);
  response->prepare_payload();
  if (is_head_)
    response->body().clear();
  stream_.expires_after(kPatience);
  parts::async_write(stream_, *response,
                     [self = shared_from_this(), response](beast::error_code error, std::size_t) {
                       error ? self->lose() : self->finish();
                     });
}

void Session::begin(int status, const Headers &headers) {
  parts::response<parts::empty_body> response;
  set_head(response, status, headers);
  response.chunked(true);
  std::ostringstream head;
  head << response.base();
  waiting_.push_back(head.str());
  write_next();
}

void Session::write(std::string bytes) {
  if (!answering_ || ending_ || bytes.empty())
    return;
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  waiting_.push_back(size + std::move(bytes) + "\r\n");
  write_next();
}

void Session::end() {
  if (!answering_ || std::exchange(ending_, true))
    return;
  waiting_.emplace_back("0\r\n\r\n");
  write_next();
}

void Session::write_next() {
  if (writing_ || waiting_.empty())
    return;
  const auto part = std::make_shared<std::string>(std::move(waiting_.front()));
  waiting_.pop_front();
  writing_ = part;
  stream_.expires_after(kPatience);
  asio::async_write(stream_, asio::buffer(*part),
                    [self = shared_from_this(), part](beast::error_code error, std::size_t) {
                      self->writing_.reset();
                      self->stream_.expires_never();
                      if (error)
                        return self->lose();
                      if (self->waiting_.empty() && self->ending_)
                        return self->finish();
                      self->write_next();
                    });
}

void Session::on_lost(std::function<void()> lost) {
  lost_ = std::move(lost);
  watch();
}

/// Waits for the end of the stream while the request is in work. A further request of the peer
/// stays in the socket until the answer is complete.
void Session::watch() {
  stream_.socket().async_wait(
      tcp::socket::wait_read, [weak = weak_from_this()](beast::error_code error) {
        const auto self = weak.lock();
        if (!self || error || !self->answering_)
          return;
        char byte;
        beast::error_code failed;
        self->stream_.socket().non_blocking(true, failed);
        const std::size_t count = self->stream_.socket().receive(
            asio::buffer(&byte, 1), tcp::socket::message_peek, failed);
        if (failed != asio::error::would_block && count == 0)
          self->lose();
      });
}

void Session::finish() {
  answering_ = ending_ = false;
  lost_ = nullptr;
  if (!keep_alive_)
    return close();
  beast::error_code ignored;
  stream_.socket().cancel(ignored); // the watch, if there is one
  read();
}

void Session::lose() {
  answering_ = false;
  waiting_.clear();
  if (const auto lost = std::exchange(lost_, nullptr))
    lost();
  close();
}

class Listener final : public Server {
public:
  Listener(const asio::any_io_executor &executor, Handler handler, const ServerLimits &limits,
           std::function<void(const std::string &)> log)
      : accepting_(std::make_shared<rpc::AcceptLoop<tcp>>(executor)),
        shared_(std::make_shared<Shared>(std::move(handler), limits)), log_(std::move(log)) {}
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
                               if (shared->peers < shared->limits.peers)
                                 std::make_shared<Session>(std::move(socket), shared)->read();
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
  tcp::endpoint endpoint() const {
    beast::error_code ignored;
    return accepting_->acceptor().local_endpoint(ignored);
  }

  std::shared_ptr<rpc::AcceptLoop<tcp>> accepting_;
  std::shared_ptr<Shared> shared_;
  std::function<void(const std::string &)> log_;
};

} // namespace

const std::string &Request::header(const std::string &name) const {
  static const std::string none;
  const auto found = headers.find(name);
  return found == headers.end() ? none : found->second;
}

Result<std::unique_ptr<Server>> listen(asio::any_io_executor executor, const std::string &where,
                                       const ServerLimits &limits, Handler handler,
                                       std::function<void(const std::string &)> log) {
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
      std::make_unique<Listener>(executor, std::move(handler), limits, std::move(log));
  if (const beast::error_code failed = listener->open(found.begin()->endpoint()))
    return fail("cannot listen on " + where + ": " + failed.message(),
                "Choose another port, or an address of this host");
  return listener;
}

} // namespace warpwright::http
