// Rules for runner URLs in a project's file, and the user's own runners, which hold the
// credentials.
//
// A project's file gives only the place of a runner. The credentials (token, password, certificate)
// come from the user's own file, runners.toml in $XDG_CONFIG_HOME/warpwright (mode 0600). The
// runner is found there by scheme, host, port and virtual host:
//
//   runners = ["tls://gpu.lab:4433?ca=/home/me/ca.pem&token-file=/home/me/token", "ssh://me@gpu-box"]
//
// A project can thus only choose among the runners that the user has set up, and no token of the
// environment reaches a host that a project named. ssh:// takes its keys from ssh's own
// configuration; the user's name and the options come from the user's URL. Thread: any; touches the file system.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warpwright::consent {

/// Allowed forms of a runner's URL in a project's file, for messages.
inline constexpr const char *kProjectRunnerForms =
    "the URL of a runner that is running already (unix:/PATH, tls://HOST:PORT, "
    "amqps://HOST:PORT/VHOST) or of a host (ssh://HOST:PORT), without credentials or options: those "
    "belong in your own runners.toml (docs/use/editors.md)";

/// Whether a project's file may contain this URL: no command to start, no credentials, no options.
bool may_name_runner(const std::string &url);

/// Host and port ("gpu.lab:4433") or socket path of a URL that a project may contain.
std::string runner_place(const std::string &url);

/// Path of the user's runners.toml; empty without a home folder.
std::filesystem::path known_runners_path();
/// The URLs in the file, with their credentials; none if there is no file. Errors: others may read
/// or write it; it is not a list of texts.
Result<std::vector<std::string>> known_runners(const std::filesystem::path &file);

/// The URL to connect to for a URL that a project named. A socket's URL is returned unchanged; for
/// other runners, the result is the user's own URL of the same place, with its credentials.
/// Errors: the user has no such runner, the user's URL has no credentials, or others may read the
/// file.
Result<std::string> own_runner_url(const std::string &named, const std::filesystem::path &file);

} // namespace warpwright::consent
