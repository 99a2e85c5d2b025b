// Loop that accepts connections for its lifetime. Without a free descriptor accept() fails at once,
// so the next try waits, twice as long after each failure up to a limit. One log line reports the
// failure, and one the recovery. Thread: the acceptor's strand.
#pragma once

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace warpwright::rpc {

/// @tparam Protocol boost::asio::ip::tcp, boost::asio::local::stream_protocol
template <class Protocol>
class AcceptLoop : public std::enable_shared_from_this<AcceptLoop<Protocol>> {
public:
  using Acceptor = typename Protocol::acceptor;
  using Socket = typename Protocol::socket;
  struct Handlers {
    std::function<void(Socket)> on_socket;
    /// False: the next peer waits in the kernel's queue until resume() is called. Unset: always
    /// true.
    std::function<bool()> may_accept = {};
    /// Gets a line for the log when accepting fails, and when it works again.
    std::function<void(const std::string &)> log = {};
  };

  /// The acceptor must listen when start() is called.
  explicit AcceptLoop(boost::asio::any_io_executor executor)
      : acceptor_(executor), pause_(executor) {}
  Acceptor &acceptor() { return acceptor_; }

  void start(Handlers handlers) {
    handlers_ = std::move(handlers);
    resume();
  }
  /// Starts an accept, unless one is pending or may_accept() forbids it.
  void resume() {
    if (pending_ || !acceptor_.is_open() || (handlers_.may_accept && !handlers_.may_accept()))
      return;
    pending_ = true;
    acceptor_.async_accept(
        [self = this->shared_from_this()](boost::system::error_code error, Socket socket) {
          self->on_accept(error, std::move(socket));
        });
  }
  void close() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    handlers_ = {};
  }

private:
  static constexpr std::chrono::milliseconds kFirstPause{50}, kLongestPause{2'000};

  void on_accept(boost::system::error_code error, Socket socket) {
    if (error == boost::asio::error::operation_aborted || !acceptor_.is_open())
      return;
    if (error && error != boost::asio::error::connection_aborted)
      return wait(error);
    pending_ = false;
    if (!error) {
      if (std::exchange(pause_length_, {}).count() > 0)
        say("connections are accepted again");
      const auto on_socket = handlers_.on_socket; // the handler may close this loop
      on_socket(std::move(socket));
    }
    resume();
  }

  /// Tries again after a pause, during which the accept counts as pending.
  void wait(boost::system::error_code error) {
    if (pause_length_.count() == 0)
      say("cannot accept connections: " + error.message() + "; tried again until it succeeds");
    pause_length_ = std::clamp(2 * pause_length_, kFirstPause, kLongestPause);
    pause_.expires_after(pause_length_);
    pause_.async_wait([self = this->shared_from_this()](boost::system::error_code stopped) {
      if (stopped)
        return;
      self->pending_ = false;
      self->resume();
    });
  }

  void say(const std::string &line) {
    if (handlers_.log)
      handlers_.log(line);
  }

  Acceptor acceptor_;
  boost::asio::steady_timer pause_;
  Handlers handlers_;
  std::chrono::milliseconds pause_length_{}; ///< 0: the last accept succeeded
  bool pending_ = false;
};

} // namespace warpwright::rpc
