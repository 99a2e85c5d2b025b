// One WebSocket of the HTTP server, over TCP or TLS. Only http_server.cpp includes this file.
//
// A read is always pending, so that pings are answered and a lost peer is noticed while a request
// is in work. Thread: the executor's.
#pragma once

#include "support/http/http_server.h"

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <deque>
#include <utility>

namespace warpwright::http {

/// A silent peer is asked for a sign of life after half of this time, and dropped after all of it.
inline constexpr std::chrono::seconds kSilence{60};

/// @tparam Stream beast::tcp_stream, or beast::ssl_stream of it
template <class Stream>
class WebSocketSession final : public WebSocket,
                               public std::enable_shared_from_this<WebSocketSession<Stream>> {
public:
  using Error = boost::beast::error_code;
  using Handshake = boost::beast::http::request<boost::beast::http::string_body>;

  /// @param slot lives as long as the connection
  WebSocketSession(Stream stream, std::size_t message_bytes, WebSocketHandlers handlers,
                   std::shared_ptr<void> slot)
      : socket_(std::move(stream)), handlers_(std::move(handlers)), slot_(std::move(slot)) {
    boost::beast::get_lowest_layer(socket_).expires_never();
    socket_.set_option(boost::beast::websocket::stream_base::timeout{
        .handshake_timeout = kSilence, .idle_timeout = kSilence, .keep_alive_pings = true});
    socket_.read_message_max(message_bytes);
    socket_.text(true);
  }

  void accept(Handshake handshake) {
    const auto request = std::make_shared<Handshake>(std::move(handshake));
    writing_ = true;
    socket_.async_accept(*request, [self = this->shared_from_this(), request](Error error) {
      self->writing_ = false;
      if (error)
        return self->finish();
      self->read();
      self->write_next();
    });
  }

  void send(std::string text) override {
    if (is_closing_ || is_finished_)
      return;
    waiting_.push_back(std::move(text));
    write_next();
  }
  void close(std::uint16_t code, std::string reason) override {
    if (std::exchange(is_closing_, true))
      return;
    reason_ = boost::beast::websocket::close_reason(
        static_cast<boost::beast::websocket::close_code>(code), reason.substr(0, 120));
    write_next();
  }

private:
  void read() {
    socket_.async_read(buffer_, [self = this->shared_from_this()](Error error, std::size_t) {
      if (error)
        return self->finish();
      std::string text = boost::beast::buffers_to_string(self->buffer_.data());
      self->buffer_.consume(self->buffer_.size());
      if (self->handlers_.on_message && !self->is_closing_)
        self->handlers_.on_message(std::move(text));
      self->read();
    });
  }

  void write_next() {
    if (writing_ || is_finished_)
      return;
    if (waiting_.empty()) {
      if (is_closing_ && !std::exchange(writing_, true))
        socket_.async_close(reason_, [self = this->shared_from_this()](Error) { self->finish(); });
      return;
    }
    writing_ = true;
    const auto text = std::make_shared<std::string>(std::move(waiting_.front()));
    waiting_.pop_front();
    socket_.async_write(boost::asio::buffer(*text),
                        [self = this->shared_from_this(), text](Error error, std::size_t) {
                          self->writing_ = false;
                          error ? self->finish() : self->write_next();
                        });
  }

  void finish() {
    if (std::exchange(is_finished_, true))
      return;
    boost::beast::get_lowest_layer(socket_).close();
    WebSocketHandlers handlers = std::exchange(handlers_, {});
    if (handlers.on_closed)
      handlers.on_closed();
  }

  boost::beast::websocket::stream<Stream> socket_;
  WebSocketHandlers handlers_;
  std::shared_ptr<void> slot_;
  boost::beast::flat_buffer buffer_;
  std::deque<std::string> waiting_;
  boost::beast::websocket::close_reason reason_;
  bool writing_ = false, is_closing_ = false, is_finished_ = false;
};

} // namespace warpwright::http
