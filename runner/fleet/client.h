// Client of a fleet: the interface of any runner's client, over a broker.
//
// A job travels as a stored message under its key (options.job, else a new one). Runners execute it
// at least once. The verdict reaches the caller exactly once per key: the client drops copies. A
// client with a session name finds the verdicts that finished while it was away: verify() of the
// same key then answers with the stored verdict, and nothing runs again. A verdict stays stored at
// the broker until its callback has returned.
// Limitation: a job that no runner has taken yet cannot be cancelled. It may still run; the client
// drops its verdict.
// Thread: the executor's strand.
#pragma once

#include "runner/client/client.h"
#include "runner/fleet/address.h"

#include <boost/asio/any_io_executor.hpp>

namespace warpwright::runner::fleet {

/// Never blocks: a fault of the broker becomes the error of the client's requests.
/// Errors: a URL that is not understood.
Result<std::shared_ptr<Client>> connect(const std::string &url,
                                        boost::asio::any_io_executor executor);

} // namespace warpwright::runner::fleet
