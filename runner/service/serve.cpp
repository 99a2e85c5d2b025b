// `serve`: the service on stdio, or on a unix socket with many clients.
#include "runner/service/commands.h"
#include "runner/service/device_runner.h"
#include "runner/service/service.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <sys/stat.h>
#include <unistd.h>

namespace warpwright::runner {
namespace {

using Local = boost::asio::local::stream_protocol;

/// True when somebody answers there; a socket file that nobody serves is removed.
bool is_served(boost::asio::io_context &loop, const std::string &path) {
  boost::system::error_code error;
  Local::socket probe(loop);
  probe.connect(Local::endpoint(path), error);
  if (!error)
    return true;
  std::error_code status_error;
  if (std::filesystem::is_socket(path, status_error))
    ::unlink(path.c_str());
  return false;
}

class SocketServer {
public:
  SocketServer(boost::asio::io_context &loop, Service &service, std::string path)
      : service_(service), acceptor_(loop), path_(std::move(path)) {}
  ~SocketServer() {
    if (acceptor_.is_open())
      ::unlink(path_.c_str());
  }

  boost::system::error_code listen() {
    boost::system::error_code error;
    acceptor_.open(Local(), error);
    const mode_t before = umask(0177); // the owner's only, from the moment it exists
    if (!error)
      acceptor_.bind(Local::endpoint(path_), error);
    umask(before);
    if (!error)
      acceptor_.listen(16, error);
    if (error)
      acceptor_.close();
    else
      accept();
    return error;
  }

private:
  void accept() {
    acceptor_.async_accept([this](boost::system::error_code error, Local::socket socket) {
      if (error == boost::asio::error::operation_aborted)
        return;
      if (!error) {
        boost::system::error_code release_error;
        const int descriptor = socket.release(release_error);
        if (!release_error)
          service_.add_client(
              rpc::make_descriptor_stream(acceptor_.get_executor(), descriptor, descriptor), [] {});
      }
      accept();
    });
  }

  Service &service_;
  Local::acceptor acceptor_;
  std::string path_;
};

} // namespace

int run_serve(const std::string &socket) {
  boost::asio::io_context loop;
  DeviceRunner devices(loop.get_executor(), find_devices());
  Service service(loop.get_executor(), devices);
  boost::asio::signal_set signals(loop, SIGINT, SIGTERM);
  signals.async_wait([&](boost::system::error_code error, int) {
    if (!error)
      loop.stop();
  });
  std::unique_ptr<SocketServer> server;
  if (socket.empty()) {
    // The protocol's stdout is kept; what anything else prints goes to stderr.
    const int out = dup(1);
    dup2(2, 1);
    service.add_client(rpc::make_descriptor_stream(loop.get_executor(), dup(0), out),
                       [&] { loop.stop(); });
  } else {
    if (is_served(loop, socket)) {
      std::cerr << "cannot listen on " << socket
                << ": another runner serves it. Use that one, or another path" << std::endl;
      return 2;
    }
    server = std::make_unique<SocketServer>(loop, service, socket);
    if (const auto error = server->listen()) {
      std::cerr << "cannot listen on " << socket << ": " << error.message()
                << ". Choose a path in a folder you may write to, shorter than 108 bytes"
                << std::endl;
      return 2;
    }
    std::cerr << "listening on " << socket << std::endl;
  }
  loop.run();
  devices.stop();
  return 0;
}

} // namespace warpwright::runner
