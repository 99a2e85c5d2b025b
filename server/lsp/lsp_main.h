// `warpwright lsp`: the language server on stdin and stdout.
#pragma once

#include "server/settings.h"

#include <filesystem>

namespace warpwright::server {

struct LspOptions {
  std::string runner;           ///< URL; empty: the runner beside this program
  std::filesystem::path ledger; ///< empty: the default one
};

/// Serves until the client ends the session. Only the protocol is written to stdout.
/// @return 0 after `shutdown`, else 1
int run_lsp(const LspOptions &options = {});

} // namespace warpwright::server
