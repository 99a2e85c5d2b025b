// Stderr of a worker process: passed on to this process's stderr, with its last part kept to
// explain a loss.
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

  /// Reads all bytes that are in the pipe.
  void drain();
  void close() { stream_.close(); }
  /// The last line that the process wrote; empty: none.
  std::string last_line() const;

private:
  ErrorTail(boost::asio::any_io_executor executor, int descriptor)
      : stream_(executor, descriptor) {}
  /// Waits until the pipe is readable and reads it in the same handler, so that no text is held by
  /// a handler that runs after the loss is reported.
  void wait();
  /// @return whether more may come
  bool read_waiting();

  boost::asio::posix::stream_descriptor stream_;
  std::array<char, 4096> block_{};
  std::string tail_;
};

} // namespace warpwright::runner
