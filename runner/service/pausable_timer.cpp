#include "runner/service/pausable_timer.h"

#include <utility>

namespace warpwright::runner {

void PausableTimer::start(std::chrono::milliseconds limit, std::function<void()> over) {
  over_ = std::move(over);
  paused_.reset();
  end_ = Clock::now() + limit;
  wait();
}

void PausableTimer::stop() {
  end_.reset();
  awaited_.reset();
  timer_.cancel();
}

void PausableTimer::pause() {
  if (!end_ || paused_)
    return;
  paused_ = Clock::now();
  awaited_.reset();
  timer_.cancel();
}

void PausableTimer::resume() {
  if (!end_ || !paused_)
    return;
  *end_ += Clock::now() - *std::exchange(paused_, std::nullopt);
  wait();
}

void PausableTimer::wait() {
  timer_.expires_at(*end_);
  awaited_ = std::make_shared<char>();
  timer_.async_wait([this, awaited = std::weak_ptr(awaited_)](boost::system::error_code error) {
    if (error || awaited.expired())
      return;
    stop();
    const auto over = over_; // a copy, because the callback may start the next limit
    over();
  });
}

} // namespace warpwright::runner
