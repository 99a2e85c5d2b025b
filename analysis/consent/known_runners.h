// How a project may name a runner, and the user's own runners, which hold the credentials.
//
// A project's file says only where a runner is. How to get in (token, password, certificate) comes
// from a file of the user's, runners.toml in $XDG_CONFIG_HOME/warpwright (mode 0600), where the
// runner is found again by scheme, host, port and virtual host:
//
//   runners = ["tls://gpu.lab:4433?ca=/home/me/ca.pem&token-file=/home/me/token"]
//
// So a project can only choose among runners that the user has set up, and no token of the
// environment reaches a host that a project named. Thread: any; touches the file system.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <string>

namespace warpwright::consent {

/// Forms of a runner's URL in a project's file, for messages.
inline constexpr const char *kProjectRunnerForms =
    "the URL of a runner that is running already (unix:/PATH, tls://HOST:PORT, "
    "amqps://HOST:PORT/VHOST), without credentials or options: those belong in your own "
    "runners.toml (docs/editors.md)";

/// Whether a project's file may say this: no command to start, no credentials, no options.
bool may_name_runner(const std::string &url);

/// "gpu.lab:4433", or the path of a socket: where `url`, which a project may say, leads.
std::string runner_place(const std::string &url);

/// runners.toml of the user; empty without a home.
std::filesystem::path known_runners_path();

/// The URL to connect to for one that a project named: a socket's as it is, else that of the user's
/// runner there, with its credentials.
/// Errors: the user has no such runner, or one without credentials of its own; a file that others
/// may read.
Result<std::string> own_runner_url(const std::string &named, const std::filesystem::path &file);

} // namespace warpwright::consent
