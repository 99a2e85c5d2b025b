// A runner as a member of a fleet: takes jobs from the broker, has the service of this process run them,
// and sends the verdicts back.
//
// It is one more client of the service, over the same protocol as all others. A job is acknowledged to
// the broker only when its verdict is stored there, so a runner that dies, or loses its line, loses
// nothing: the broker delivers the job again, to this runner or another one. A job that comes back to the
// runner that still has it is not started twice. A job that was delivered too often is a suspect: it is
// tried again with nothing else of the fleet running here, so that what ends the runner then is known;
// after that it gets a verdict that says so, and circles no more.
// Thread: the service's strand; the broker has a thread of its own (line.h).
#pragma once

#include "runner/fleet/address.h"
#include "support/rpc/connection.h"

namespace warpwright::runner::fleet {

class FleetRunner {
public:
  /// @param service a stream to the service, as a local client has it
  /// @param on_failure the fleet cannot be joined, and trying again will not help; once
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
