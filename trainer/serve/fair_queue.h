// Queue of work of several clients on a few threads: clients take turns, so one with a thousand
// waiting steps delays another by one step. Thread: any.
#pragma once

#include "support/exclusive.h"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <deque>
#include <functional>
#include <map>
#include <string>

namespace warpwright::trainer {

class FairQueue {
public:
  using Work = std::function<void()>;

  explicit FairQueue(std::size_t threads) : pool_(threads) {}
  /// Waits for the work that has begun; the rest is dropped.
  ~FairQueue() {
    waiting_.with([](Waiting &waiting) { waiting = {}; });
    pool_.join();
  }

  /// @return false, and the work is not taken, if `most` works of the client wait already
  bool submit(const std::string &client, std::size_t most, Work work) {
    const bool taken = waiting_.with([&](Waiting &waiting) {
      std::deque<Work> &own = waiting.of[client];
      if (own.size() >= most)
        return false;
      if (own.empty())
        waiting.turns.push_back(client);
      own.push_back(std::move(work));
      return true;
    });
    if (taken)
      boost::asio::post(pool_, [this] {
        if (const Work next = take(); next)
          next();
      });
    return taken;
  }

private:
  struct Waiting {
    std::map<std::string, std::deque<Work>> of; ///< by client
    std::deque<std::string> turns;              ///< clients with waiting work
  };

  Work take() {
    return waiting_.with([](Waiting &waiting) -> Work {
      if (waiting.turns.empty())
        return {};
      const std::string client = std::move(waiting.turns.front());
      waiting.turns.pop_front();
      std::deque<Work> &own = waiting.of[client];
      Work work = std::move(own.front());
      own.pop_front();
      if (own.empty())
        waiting.of.erase(client);
      else
        waiting.turns.push_back(client);
      return work;
    });
  }

  Exclusive<Waiting> waiting_;
  boost::asio::thread_pool pool_;
};

} // namespace warpwright::trainer
