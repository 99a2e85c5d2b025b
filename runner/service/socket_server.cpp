// A socket file that nobody serves is left over from a runner that was killed: it is replaced.
#include "runner/service/socket_server.h"

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace warpwright::runner {
namespace {

using Local = boost::asio::local::stream_protocol;

constexpr std::chrono::milliseconds kAcceptPause{200};

/// True when somebody answers there; a socket file that nobody serves is removed.
bool is_served(const boost::asio::any_io_executor &executor, const std::string &path) {
  boost::system::error_code error;
  Local::socket probe(executor);
  probe.connect(Local::endpoint(path), error);
  if (!error)
    return true;
  std::error_code status_error;
  if (std::filesystem::is_socket(path, status_error))
    ::unlink(path.c_str());
  return false;
}

} // namespace

SocketServer::SocketServer(boost::asio::io_context &loop, std::string path, OnStream on_stream)
    : acceptor_(loop), pause_(loop), path_(std::move(path)), on_stream_(std::move(on_stream)) {}

SocketServer::~SocketServer() {
  if (acceptor_.is_open())
    ::unlink(path_.c_str());
}

Result<void> SocketServer::listen() {
  if (path_.size() > 107)
    return fail("cannot listen on " + path_ + ": the path is longer than 107 bytes");
  if (is_served(acceptor_.get_executor(), path_))
    return fail("cannot listen on " + path_ + ": another runner serves it",
                "Use that one, or another path");
  boost::system::error_code error;
  acceptor_.open(Local(), error);
  const mode_t before = umask(0177); // the owner's only, from the moment it exists
  if (!error)
    acceptor_.bind(Local::endpoint(path_), error);
  umask(before);
  if (!error)
    acceptor_.listen(boost::asio::socket_base::max_listen_connections, error);
  if (error) {
    acceptor_.close();
    return fail("cannot listen on " + path_ + ": " + error.message(),
                "Choose a path in a folder you may write to");
  }
  accept();
  return {};
}

void SocketServer::accept() {
  acceptor_.async_accept([this](boost::system::error_code error, Local::socket socket) {
    if (error == boost::asio::error::operation_aborted)
      return;
    boost::system::error_code release_error;
    const int descriptor = error ? -1 : socket.release(release_error);
    if (!error && !release_error)
      on_stream_(rpc::make_descriptor_stream(acceptor_.get_executor(), descriptor, descriptor));
    error ? accept_later() : accept();
  });
}

void SocketServer::accept_later() {
  // Most often no descriptor is left: one is free when somebody leaves.
  pause_.expires_after(kAcceptPause);
  pause_.async_wait([this](boost::system::error_code error) {
    if (!error)
      accept();
  });
}

} // namespace warpwright::runner
