// A time limit that can be paused. Thread: the executor's.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>

namespace warpwright::runner {

class PausableTimer {
public:
  explicit PausableTimer(boost::asio::any_io_executor executor) : timer_(executor) {}

  /// Calls `over` once after `limit`, unless stopped before. Replaces a limit that is running.
  void start(std::chrono::milliseconds limit, std::function<void()> over);
  void stop();
  /// Pauses a running limit; no effect otherwise.
  void pause();
  void resume();

private:
  using Clock = std::chrono::steady_clock;
  void wait();

  boost::asio::steady_timer timer_;
  std::function<void()> over_;
  std::optional<Clock::time_point> end_, paused_; ///< absent: no limit; not paused
  /// Expires when its wait is cancelled, which the handler of a completed wait must notice.
  std::shared_ptr<char> awaited_;
};

} // namespace warpwright::runner
