// A runner as a member of a fleet: takes jobs from the broker, has this process's service run them,
// and sends the verdicts back.
//
// It is another client of the service, with the same protocol as all others. A job is acknowledged
// only when its verdict is stored at the broker, so no job is lost when a runner dies or loses its
// connection: the broker delivers the job again, to this runner or another one. A job that is
// delivered to a runner that still has it is not started twice. A job that was delivered too often
// is a suspect. It is tried again while no other job of the fleet runs here, so that the cause of a
// runner's end is known. After several such tries, it gets a verdict that says so and is not
// delivered again.
// Thread: the service's strand; the broker has its own thread (line.h).
#pragma once

#include "runner/fleet/address.h"
#include "support/rpc/connection.h"

namespace warpwright::runner::fleet {

class FleetRunner {
public:
  /// @param service a stream to the service, like that of a local client
  /// @param on_failure called once if the fleet cannot be joined and a retry will not help
  FleetRunner(boost::asio::any_io_executor executor, BrokerAddress address,
              std::unique_ptr<rpc::Stream> service, std::function<void(const Error &)> on_failure);
  /// Leaves the fleet: unfinished jobs go to other runners.
  ~FleetRunner();
  FleetRunner(const FleetRunner &) = delete;
  FleetRunner &operator=(const FleetRunner &) = delete;

private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

} // namespace warpwright::runner::fleet
