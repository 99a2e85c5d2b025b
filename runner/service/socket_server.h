// A unix socket server that hands over a stream for each connection. Only the owner may open the
// socket file, so a client that can connect is trusted. Thread: the loop's.
#pragma once

#include "support/rpc/accept_loop.h"
#include "support/rpc/connection.h"

#include <boost/asio/local/stream_protocol.hpp>

namespace warpwright::runner {

class SocketServer {
public:
  using OnStream = std::function<void(std::unique_ptr<rpc::Stream>)>;
  using Log = std::function<void(const std::string &line)>;
  SocketServer(boost::asio::io_context &loop, std::string path, OnStream on_stream, Log log);
  ~SocketServer();
  SocketServer(const SocketServer &) = delete;
  SocketServer &operator=(const SocketServer &) = delete;

  /// Errors: another runner serves this path; the socket cannot be created.
  Result<void> listen();

private:
  std::shared_ptr<rpc::AcceptLoop<boost::asio::local::stream_protocol>> accepting_;
  std::string path_;
  OnStream on_stream_;
  Log log_;
};

} // namespace warpwright::runner
