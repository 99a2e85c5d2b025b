// Threads for slow work. Size 0 runs everything inline, for tests.
// Thread: post() from any.
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <utility>

namespace warpwright::server {

class Pool {
public:
  explicit Pool(unsigned threads)
      : threads_(threads ? std::make_unique<boost::asio::thread_pool>(threads) : nullptr) {}

  /// `work` must catch what it calls: an exception that leaves it ends the program.
  template <class Work>
  void post(Work &&work) {
    if (threads_)
      boost::asio::post(*threads_, std::forward<Work>(work));
    else
      std::forward<Work>(work)();
  }
  /// Waits for all that was posted.
  void finish() {
    if (threads_)
      threads_->join();
  }
  /// Drops what has not begun and waits for what has.
  void join() {
    if (threads_) {
      threads_->stop();
      threads_->join();
    }
  }

private:
  std::unique_ptr<boost::asio::thread_pool> threads_;
};

} // namespace warpwright::server
