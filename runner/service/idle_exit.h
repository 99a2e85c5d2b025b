// End of a service that nobody uses: no client is connected and no job is unfinished for a time.
// Thread: the executor's strand.
#pragma once

#include "runner/service/service.h"

#include <boost/asio/steady_timer.hpp>

namespace warpwright::runner {

class IdleExit {
public:
  /// @param on_idle called once, after `limit` without a client and without a job
  IdleExit(boost::asio::any_io_executor executor, const Service &service,
           std::chrono::milliseconds limit, std::function<void()> on_idle);

private:
  void look();

  boost::asio::steady_timer timer_;
  const Service &service_;
  std::chrono::milliseconds limit_;
  std::function<void()> on_idle_;
  std::chrono::steady_clock::time_point used_ = std::chrono::steady_clock::now();
};

} // namespace warpwright::runner
