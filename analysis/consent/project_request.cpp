// Texts about the requests of a project's file.
#include "analysis/consent/project_request.h"

namespace warpwright::consent {

std::string keys_text(const std::vector<ProjectRequest> &requests) {
  std::vector<std::string> keys;
  for (const ProjectRequest &request : requests)
    if (keys.empty() || keys.back() != request.key)
      keys.push_back(request.key);
  std::string text;
  for (std::size_t i = 0; i < keys.size(); ++i)
    text += (i == 0 ? "" : i + 1 == keys.size() ? " and " : ", ") + keys[i];
  return text;
}

std::string requests_text(const std::vector<ProjectRequest> &requests) {
  std::string text;
  for (const ProjectRequest &request : requests)
    text += "  " + request.key + " = " + request.value + "\n      " + request.effect + "\n";
  return text;
}

std::optional<Error> withheld_notice(const ProjectFile &file) {
  if (!file.is_withheld())
    return std::nullopt;
  const std::string message = file.path + " is not approved, so what it says about " +
                              keys_text(file.requests) + " is ignored";
  if (!file.unapprovable.empty())
    return Error{message + "; it cannot be approved, because " + file.unapprovable,
                 "Make it yours alone, with chown and chmod go-w"};
  return Error{message, "See what it asks for, and approve it: warpwright trust " + file.path};
}

} // namespace warpwright::consent
