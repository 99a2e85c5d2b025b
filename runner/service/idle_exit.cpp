// The service is looked at ten times in the limit, and at least once a second.
#include "runner/service/idle_exit.h"

namespace warpwright::runner {

IdleExit::IdleExit(boost::asio::any_io_executor executor, const Service &service,
                   std::chrono::milliseconds limit, std::function<void()> on_idle)
    : timer_(executor), service_(service), limit_(limit), on_idle_(std::move(on_idle)) {
  look();
}

void IdleExit::look() {
  const auto now = std::chrono::steady_clock::now();
  if (service_.clients() > 0 || service_.jobs().unfinished() > 0)
    used_ = now;
  if (now - used_ >= limit_)
    return on_idle_();
  timer_.expires_after(std::min<std::chrono::milliseconds>(limit_ / 10, std::chrono::seconds(1)));
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error)
      look();
  });
}

} // namespace warpwright::runner
