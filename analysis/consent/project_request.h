// A request of a project's file, which the user has to approve: a key, its value, and what it does.
// Thread: values, any.
#pragma once

#include "support/error.h"

#include <optional>
#include <string>
#include <vector>

namespace warpwright::consent {

struct ProjectRequest {
  std::string key;    ///< "runner"
  std::string value;  ///< "tls://gpu.lab:4433"
  std::string effect; ///< "sends the kernels of this folder to gpu.lab:4433"
  bool operator==(const ProjectRequest &) const = default;
};

/// A project's file that asks for something.
struct ProjectFile {
  std::string path;         ///< as found; empty: there is none
  std::string identity;     ///< its folder without symbolic links, and its name: what is approved
  std::string content_hash; ///< SHA-256 of the text that was read
  std::vector<ProjectRequest> requests;
  bool approved = false;    ///< the requests count
  std::string unapprovable; ///< why it cannot be approved; empty: it can

  /// Requests that are there and do not count.
  bool is_withheld() const { return !requests.empty() && !approved; }
};

/// "runner and python"
std::string keys_text(const std::vector<ProjectRequest> &requests);

/// "runner = tls://gpu.lab:4433" and below it what that does, for each request.
std::string requests_text(const std::vector<ProjectRequest> &requests);

/// What is ignored of a file that is not approved, and what to do; nothing where all of it counts.
std::optional<Error> withheld_notice(const ProjectFile &file);

} // namespace warpwright::consent
