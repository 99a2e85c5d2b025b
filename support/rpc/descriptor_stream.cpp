// Pipes and sockets as a stream of bytes.
#include "support/rpc/connection.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/write.hpp>
#include <csignal>
#include <unistd.h>

namespace warpwright::rpc {
namespace {

class DescriptorStream final : public Stream {
public:
  DescriptorStream(const boost::asio::any_io_executor &executor, int read_fd, int write_fd)
      : reader_(executor, read_fd), writer_(executor, write_fd) {}

  void async_read(char *data, std::size_t size,
                  std::function<void(boost::system::error_code, std::size_t)> done) override {
    reader_.async_read_some(boost::asio::buffer(data, size), std::move(done));
  }
  void async_write(const std::string &data,
                   std::function<void(boost::system::error_code)> done) override {
    boost::asio::async_write(
        writer_, boost::asio::buffer(data),
        [done = std::move(done)](boost::system::error_code error, std::size_t) { done(error); });
  }
  void close() override {
    boost::system::error_code ignored; // closing is best effort
    reader_.close(ignored);
    writer_.close(ignored);
  }

private:
  boost::asio::posix::stream_descriptor reader_, writer_;
};

} // namespace

std::unique_ptr<Stream> make_descriptor_stream(boost::asio::any_io_executor executor, int read_fd,
                                               int write_fd) {
  // A write to a lost peer must fail with an error, without a signal. A handler that the program
  // has set is kept.
  struct sigaction current{};
  if (::sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL)
    ::signal(SIGPIPE, SIG_IGN);
  return std::make_unique<DescriptorStream>(executor, read_fd,
                                            read_fd == write_fd ? ::dup(write_fd) : write_fd);
}

} // namespace warpwright::rpc
