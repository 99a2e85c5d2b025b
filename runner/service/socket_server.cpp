// Unix socket server. A socket file that no process serves was left by a killed runner and is
// replaced.
#include "runner/service/socket_server.h"

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace warpwright::runner {
namespace {

using Local = boost::asio::local::stream_protocol;

/// Whether a process answers at this path; removes a socket file that no process serves.
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

SocketServer::SocketServer(boost::asio::io_context &loop, std::string path, OnStream on_stream,
                           Log log)
    : accepting_(std::make_shared<rpc::AcceptLoop<Local>>(loop.get_executor())),
      path_(std::move(path)), on_stream_(std::move(on_stream)), log_(std::move(log)) {}

SocketServer::~SocketServer() {
  if (accepting_->acceptor().is_open())
    ::unlink(path_.c_str());
  accepting_->close();
}

Result<void> SocketServer::listen() {
  if (path_.size() > 107)
    return fail("cannot listen on " + path_ + ": the path is longer than 107 bytes");
  Local::acceptor &acceptor = accepting_->acceptor();
  if (is_served(acceptor.get_executor(), path_))
    return fail("cannot listen on " + path_ + ": another runner serves it",
                "Use that one, or another path");
  boost::system::error_code error;
  acceptor.open(Local(), error);
  const mode_t before = umask(0177); // only the owner may open the socket, from its creation on
  if (!error)
    acceptor.bind(Local::endpoint(path_), error);
  umask(before);
  if (!error)
    acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
  if (error) {
    acceptor.close();
    return fail("cannot listen on " + path_ + ": " + error.message(),
                "Choose a path in a folder you may write to");
  }
  accepting_->start({.on_socket =
                         [this](Local::socket socket) {
                           boost::system::error_code release_error;
                           const auto executor = socket.get_executor();
                           const int descriptor = socket.release(release_error);
                           if (!release_error)
                             on_stream_(rpc::make_descriptor_stream(executor, descriptor, descriptor));
                         },
                     .log = log_});
  return {};
}

} // namespace warpwright::runner
