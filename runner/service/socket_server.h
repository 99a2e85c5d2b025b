// A unix socket that hands over the streams of those who connect. The file is its owner's only, so
// whoever can connect is trusted. Thread: the loop's.
#pragma once

#include "support/rpc/connection.h"

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

namespace warpwright::runner {

class SocketServer {
public:
  using OnStream = std::function<void(std::unique_ptr<rpc::Stream>)>;
  SocketServer(boost::asio::io_context &loop, std::string path, OnStream on_stream);
  ~SocketServer();
  SocketServer(const SocketServer &) = delete;
  SocketServer &operator=(const SocketServer &) = delete;

  /// Errors: another runner serves this path; it cannot be created.
  Result<void> listen();

private:
  void accept();
  void accept_later();

  boost::asio::local::stream_protocol::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::string path_;
  OnStream on_stream_;
};

} // namespace warpwright::runner
