// A stream whose incoming bytes are given, in blocks of a given size, and whose outgoing bytes are
// kept. It ends when all was read.
#pragma once

#include "support/rpc/connection.h"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstring>

namespace warpwright::fuzz {

/// One for all inputs: making one costs more than most inputs do.
inline boost::asio::io_context &loop() {
  static boost::asio::io_context context(1);
  return context;
}

/// Until nothing is left to do.
inline void run_loop() {
  loop().restart();
  loop().run();
}

class MemoryStream final : public rpc::Stream {
public:
  MemoryStream(std::string input, std::size_t block_bytes, std::string &output)
      : input_(std::move(input)), block_bytes_(block_bytes), output_(output) {}

  void async_read(char *data, std::size_t size,
                  std::function<void(boost::system::error_code, std::size_t)> done) override {
    const std::size_t taken =
        closed_ ? 0 : std::min({size, block_bytes_, input_.size() - position_});
    std::memcpy(data, input_.data() + position_, taken);
    position_ += taken;
    boost::system::error_code error;
    if (closed_)
      error = boost::asio::error::operation_aborted;
    else if (taken == 0)
      error = boost::asio::error::eof;
    boost::asio::post(loop(), [done = std::move(done), error, taken] { done(error, taken); });
  }
  void async_write(const std::string &data,
                   std::function<void(boost::system::error_code)> done) override {
    output_ += data;
    boost::asio::post(loop(), [done = std::move(done)] { done({}); });
  }
  void close() override { closed_ = true; }

private:
  std::string input_;
  std::size_t block_bytes_, position_ = 0;
  std::string &output_; ///< outlives the stream
  bool closed_ = false;
};

} // namespace warpwright::fuzz
