// One connection of the HTTP server, over TCP or TLS. Only http_server.cpp includes this file.
//
// It lives as long as an operation or an answer is pending. Thread: the executor's.
#pragma once

#include "support/http/web_socket_session.h"

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <cctype>
#include <cstdio>
#include <optional>
#include <sstream>

namespace warpwright::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace parts = beast::http;
using asio::ip::tcp;

/// Time for a peer to shake hands, or to take a part of an answer.
inline constexpr std::chrono::seconds kPatience{10};
inline constexpr std::size_t kMaxHeaderBytes = 8 * 1024;

struct Shared {
  Handler handler;
  ServerLimits limits;
  std::size_t peers = 0;
};

/// A place among the peers that a server takes at a time.
inline std::shared_ptr<void> take_place(const std::shared_ptr<Shared> &shared) {
  ++shared->peers;
  return {shared.get(), [shared](void *) { --shared->peers; }};
}

inline Request request_of(const parts::request<parts::string_body> &message) {
  Request request;
  request.method = message.method_string();
  request.target = message.target().substr(0, message.target().find('?'));
  for (const auto &field : message) {
    std::string name(field.name_string());
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    request.headers[name] = field.value();
  }
  request.body = message.body();
  return request;
}

/// @tparam Stream beast::tcp_stream, or beast::ssl_stream of it
template <class Stream>
class Session final : public std::enable_shared_from_this<Session<Stream>> {
public:
  static constexpr bool kIsTls = !std::is_same_v<Stream, beast::tcp_stream>;

  Session(Stream stream, std::shared_ptr<Shared> shared)
      : stream_(std::move(stream)), shared_(std::move(shared)), place_(take_place(shared_)) {}

  void start() {
    if constexpr (kIsTls) {
      transport().expires_after(kPatience);
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](beast::error_code error) {
                                error ? self->transport().close() : self->read();
                              });
    } else {
      read();
    }
  }
  void send(int status, const Headers &headers, std::string body);
  void begin(int status, const Headers &headers);
  void write(std::string bytes);
  void end();
  void on_lost(std::function<void()> lost) {
    lost_ = std::move(lost);
    watch();
  }
  WebSocketPtr upgrade(WebSocketHandlers handlers);
  /// The handler dropped the answer: without its end the connection is of no more use.
  void abandon() {
    if (answering_)
      close();
  }

private:
  class SessionAnswer;

  beast::tcp_stream &transport() { return beast::get_lowest_layer(stream_); }
  template <class Body>
  void set_head(parts::response<Body> &response, int status, const Headers &headers) const;
  void read();
  void take(parts::request<parts::string_body> message);
  void write_next();
  void watch();
  void finish();
  void lose();
  void close();

  Stream stream_;
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<void> place_;
  beast::flat_buffer buffer_;
  std::optional<parts::request_parser<parts::string_body>> parser_;
  std::optional<parts::request<parts::string_body>> handshake_; ///< of a WebSocket, not answered
  std::shared_ptr<void> writing_;                               ///< what an operation sends
  std::deque<std::string> waiting_;
  std::function<void()> lost_;
  bool is_head_ = false, keep_alive_ = false;
  bool answering_ = false; ///< a request has no complete answer yet
  bool ending_ = false;    ///< the last part is in `waiting_`
};

template <class Stream>
class Session<Stream>::SessionAnswer final : public Answer {
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
  WebSocketPtr upgrade(WebSocketHandlers handlers) override {
    WebSocketPtr socket = session_->upgrade(std::move(handlers));
    complete_ = complete_ || socket;
    return socket;
  }

private:
  std::shared_ptr<Session> session_;
  bool complete_ = false;
};

template <class Stream>
void Session<Stream>::read() {
  parser_.emplace();
  parser_->header_limit(kMaxHeaderBytes);
  parser_->body_limit(shared_->limits.body_bytes);
  transport().expires_after(shared_->limits.idle);
  parts::async_read(stream_, buffer_, *parser_,
                    [self = this->shared_from_this()](beast::error_code error, std::size_t) {
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

template <class Stream>
void Session<Stream>::take(parts::request<parts::string_body> message) {
  transport().expires_never();
  is_head_ = message.method() == parts::verb::head;
  keep_alive_ = message.keep_alive() && message.version() >= 11;
  answering_ = true;
  const Request request = request_of(message);
  handshake_.reset();
  if (beast::websocket::is_upgrade(message))
    handshake_ = std::move(message);
  const auto answer = std::make_shared<SessionAnswer>(this->shared_from_this());
  shared_->handler(request, answer);
}

template <class Stream>
WebSocketPtr Session<Stream>::upgrade(WebSocketHandlers handlers) {
  if (!handshake_ || !answering_)
    return nullptr;
  answering_ = false;
  const auto socket = std::make_shared<WebSocketSession<Stream>>(
      std::move(stream_), shared_->limits.body_bytes, std::move(handlers), std::move(place_));
  socket->accept(std::move(*handshake_));
  return socket;
}

template <class Stream>
template <class Body>
void Session<Stream>::set_head(parts::response<Body> &response, int status,
                               const Headers &headers) const {
  response.version(11);
  response.result(static_cast<unsigned>(status));
  response.keep_alive(keep_alive_);
  for (const auto &[name, value] : headers)
    response.set(name, value);
}

template <class Stream>
void Session<Stream>::send(int status, const Headers &headers, std::string body) {
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
  transport().expires_after(kPatience);
  parts::async_write(
      stream_, *response,
      [self = this->shared_from_this(), response](beast::error_code error, std::size_t) {
        error ? self->lose() : self->finish();
      });
}

template <class Stream>
void Session<Stream>::begin(int status, const Headers &headers) {
  parts::response<parts::empty_body> response;
  set_head(response, status, headers);
  response.chunked(true);
  std::ostringstream head;
  head << response.base();
  waiting_.push_back(head.str());
  write_next();
}

template <class Stream>
void Session<Stream>::write(std::string bytes) {
  if (!answering_ || ending_ || bytes.empty())
    return;
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  waiting_.push_back(size + std::move(bytes) + "\r\n");
  write_next();
}

template <class Stream>
void Session<Stream>::end() {
  if (!answering_ || std::exchange(ending_, true))
    return;
  waiting_.emplace_back("0\r\n\r\n");
  write_next();
}

template <class Stream>
void Session<Stream>::write_next() {
  if (writing_ || waiting_.empty())
    return;
  const auto part = std::make_shared<std::string>(std::move(waiting_.front()));
  waiting_.pop_front();
  writing_ = part;
  transport().expires_after(kPatience);
  asio::async_write(stream_, asio::buffer(*part),
                    [self = this->shared_from_this(), part](beast::error_code error, std::size_t) {
                      self->writing_.reset();
                      self->transport().expires_never();
                      if (error)
                        return self->lose();
                      if (self->waiting_.empty() && self->ending_)
                        return self->finish();
                      self->write_next();
                    });
}

/// Waits for the end of the stream while the request is in work. A further request of the peer
/// stays in the socket until the answer is complete.
template <class Stream>
void Session<Stream>::watch() {
  transport().socket().async_wait(
      tcp::socket::wait_read, [weak = this->weak_from_this()](beast::error_code error) {
        const auto self = weak.lock();
        if (!self || error || !self->answering_)
          return;
        char byte;
        beast::error_code failed;
        tcp::socket &socket = self->transport().socket();
        socket.non_blocking(true, failed);
        const std::size_t count =
            socket.receive(asio::buffer(&byte, 1), tcp::socket::message_peek, failed);
        if (failed != asio::error::would_block && count == 0)
          self->lose();
      });
}

template <class Stream>
void Session<Stream>::finish() {
  answering_ = ending_ = false;
  lost_ = nullptr;
  if (!keep_alive_)
    return close();
  beast::error_code ignored;
  transport().socket().cancel(ignored); // the watch, if there is one
  read();
}

template <class Stream>
void Session<Stream>::lose() {
  answering_ = false;
  waiting_.clear();
  if (const auto lost = std::exchange(lost_, nullptr))
    lost();
  close();
}

template <class Stream>
void Session<Stream>::close() {
  if constexpr (kIsTls) {
    transport().expires_after(kPatience);
    stream_.async_shutdown([self = this->shared_from_this()](beast::error_code) {
      self->transport().close();
    });
  } else {
    beast::error_code ignored;
    transport().socket().shutdown(tcp::socket::shutdown_send, ignored);
    transport().close();
  }
}

} // namespace warpwright::http
