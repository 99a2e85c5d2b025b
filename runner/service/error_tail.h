// What a worker process writes to stderr: passed on to ours, and its end kept, which explains a loss.
// Thread: the service's strand.
#pragma once

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <string>

namespace warpwright::runner {

class ErrorTail : public std::enable_shared_from_this<ErrorTail> {
public:
  /// @param descriptor owned from here on
  static std::shared_ptr<ErrorTail> start(boost::asio::any_io_executor executor, int descriptor);

  /// Reads all that lies in the pipe.
  void drain();
  void close() { stream_.close(); }
  /// The last line; empty: it wrote nothing.
  std::string last_line() const;

private:
  ErrorTail(boost::asio::any_io_executor executor, int descriptor)
      : stream_(executor, descriptor) {}
  /// Waits until something can be read and reads it at once, so that nothing lies in a handler that comes too late.
  void wait();
  /// @return whether more may come
  bool read_waiting();

  boost::asio::posix::stream_descriptor stream_;
  std::array<char, 4096> block_{};
  std::string tail_;
};

} // namespace warpwright::runner
