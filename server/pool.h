// Thread pool for slow work. A pool of size 0 runs all work inline, for tests. Thread: post() from
// any.
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

  /// `work` must catch exceptions: an exception that leaves it ends the program.
  template <class Work>
  void post(Work &&work) {
    if (threads_)
      boost::asio::post(*threads_, std::forward<Work>(work));
    else
      std::forward<Work>(work)();
  }
  /// Waits for all posted work.
  void finish() {
    if (threads_)
      threads_->join();
  }
  /// Drops work that has not begun, and waits for the rest.
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
