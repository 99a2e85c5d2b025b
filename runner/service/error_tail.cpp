#include "runner/service/error_tail.h"

#include <boost/asio/buffer.hpp>
#include <iostream>

namespace warpwright::runner {
namespace {

constexpr std::size_t kTailBytes = 2000;

} // namespace

std::shared_ptr<ErrorTail> ErrorTail::start(boost::asio::any_io_executor executor, int descriptor) {
  std::shared_ptr<ErrorTail> tail(new ErrorTail(executor, descriptor));
  tail->wait();
  return tail;
}

void ErrorTail::drain() { read_waiting(); }

std::string ErrorTail::last_line() const {
  const auto end = tail_.find_last_not_of("\r\n");
  if (end == std::string::npos)
    return "";
  const std::string trimmed = tail_.substr(0, end + 1);
  const auto at = trimmed.rfind('\n');
  return at == std::string::npos ? trimmed : trimmed.substr(at + 1);
}

void ErrorTail::wait() {
  stream_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [weak = weak_from_this()](boost::system::error_code error) {
                       if (const auto self = weak.lock(); self && !error && self->read_waiting())
                         self->wait();
                     });
}

bool ErrorTail::read_waiting() {
  boost::system::error_code error;
  stream_.non_blocking(true, error);
  while (!error) {
    const std::size_t size = stream_.read_some(boost::asio::buffer(block_), error);
    if (error)
      break;
    const std::string text(block_.data(), size);
    std::cerr << text;
    tail_ += text;
    if (tail_.size() > kTailBytes)
      tail_.erase(0, tail_.size() - kTailBytes);
  }
  return error == boost::asio::error::would_block;
}

} // namespace warpwright::runner
