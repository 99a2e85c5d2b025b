// A link to a runner that is started through a shell (ssh, srun, docker, kubectl): its bytes go
// through the program's stdin and stdout, so there is no port and no certificate.
//
// Opening starts the program, copies the runner if the target lacks it (shell_script.h) and ends
// when the runner's service has answered. A failure says which step failed and why. After the link
// ends, the program gets two seconds to pass on the last messages, and is then killed.
// Thread: the executor's strand.
#pragma once

#include "runner/net/tls.h"
#include "runner/shell/shell_url.h"

#include <boost/asio/any_io_executor.hpp>
#include <functional>

namespace warpwright::runner {

using ShellOpened =
    std::function<void(std::expected<std::unique_ptr<rpc::Stream>, net::LinkFailure>)>;

/// Calls `opened` once, perhaps before it returns.
void open_shell_link(boost::asio::any_io_executor executor, const ShellTarget &target,
                     ShellOpened opened);

} // namespace warpwright::runner
