// The client of a fleet: the interface of any runner's client, over a broker.
//
// A job travels as a stored message under its key (options.job, else a new one). Runners execute it at
// least once; the verdict reaches the caller exactly once by key: copies are dropped here. A client with
// a session's name finds the verdicts that were finished while it was away: verify() of the same key then
// answers with the stored one and nothing runs again. A verdict is given back to the broker's keeping
// until the callback has returned.
// Leaves out: cancelling a job that no runner has yet. It may still run; its verdict is dropped here.
// Thread: the executor's strand.
#pragma once

#include "runner/client/client.h"
#include "runner/fleet/address.h"

#include <boost/asio/any_io_executor.hpp>

namespace warpwright::runner::fleet {

/// Never blocks: what goes wrong with the broker is the error of the requests made on the client.
/// Errors: an URL that is not understood.
Result<std::shared_ptr<Client>> connect(const std::string &url,
                                        boost::asio::any_io_executor executor);

} // namespace warpwright::runner::fleet
