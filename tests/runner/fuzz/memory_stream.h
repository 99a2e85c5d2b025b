// A stream whose incoming bytes are given, in blocks of a given size, and whose outgoing bytes are
// kept. It ends when all was read.
#pragma once

#include "support/rpc/connection.h"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <cstring>

namespace warpwright::fuzz {

class MemoryStream final : public rpc::Stream {
public:
  MemoryStream(boost::asio::any_io_executor executor, std::string input, std::size_t block_bytes,
               std::string &output)
      : executor_(std::move(executor)), input_(std::move(input)), block_bytes_(block_bytes),
        output_(output) {}

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
    boost::asio::post(executor_, [done = std::move(done), error, taken] { done(error, taken); });
  }
  void async_write(const std::string &data,
                   std::function<void(boost::system::error_code)> done) override {
    output_ += data;
    boost::asio::post(executor_, [done = std::move(done)] { done({}); });
  }
  void close() override { closed_ = true; }

private:
  boost::asio::any_io_executor executor_;
  std::string input_;
  std::size_t block_bytes_, position_ = 0;
  std::string &output_; ///< outlives the stream
  bool closed_ = false;
};

} // namespace warpwright::fuzz
