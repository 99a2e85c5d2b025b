// A time limit whose clock can stand still. Thread: the executor's.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>

namespace warpwright::runner {

class PausableTimer {
public:
  explicit PausableTimer(boost::asio::any_io_executor executor) : timer_(executor) {}

  /// Calls `over` once, unless it is stopped before; a limit that ran is forgotten.
  void start(std::chrono::milliseconds limit, std::function<void()> over);
  void stop();
  /// Of a timer that runs; nothing otherwise.
  void pause();
  void resume();

private:
  using Clock = std::chrono::steady_clock;
  void wait();

  boost::asio::steady_timer timer_;
  std::function<void()> over_;
  std::optional<Clock::time_point> end_, paused_; ///< absent: no limit; it runs
  std::shared_ptr<char>
      awaited_; ///< of the wait that counts: one that was cancelled may have ended already
};

} // namespace warpwright::runner
