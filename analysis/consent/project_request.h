// A request in a project's file that the user must approve: a key, its value and its effect.
// Thread: any (plain values).
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

/// A project's file with its requests.
struct ProjectFile {
  std::string path;         ///< as found; empty: there is no file
  std::string identity;     ///< the real folder and the file name; key of an approval
  std::string content_hash; ///< SHA-256 of the text that was read
  std::vector<ProjectRequest> requests;
  bool approved = false;    ///< whether the requests count
  std::string unapprovable; ///< why the file cannot be approved; empty: it can be

  /// Whether the file has requests that are ignored.
  bool is_withheld() const { return !requests.empty() && !approved; }
};

/// The keys of the requests as a list: "runner and python".
std::string keys_text(const std::vector<ProjectRequest> &requests);

/// "runner = tls://gpu.lab:4433" and its effect on the next line, for each request.
std::string requests_text(const std::vector<ProjectRequest> &requests);

/// The ignored keys of an unapproved file and a remedy; nullopt if nothing is ignored.
std::optional<Error> withheld_notice(const ProjectFile &file);

} // namespace warpwright::consent
