// The user's approval of an agent's calls: whether the code of a file may be built and run, and
// whether the requests of its .warpwright.toml apply.
//
// The approvals are those of editors and of `warpwright trust`. A client that can ask its user gets
// the question; the arguments of a call can never answer it. For others the error names the command
// for the user. A question that goes through a client's retry carries a signed state, so an answer
// to one question approves nothing else. Thread: any.
#pragma once

#include "server/mcp/tool.h"
#include "server/trust_questions.h"
#include "support/exclusive.h"

#include <set>

namespace warpwright::mcp {

class Approval {
public:
  /// @param root folder of the project, without symbolic links
  Approval(consent::ApprovalStore store, std::string root);

  /// Finds out whether the code of the file may be built and run; asks the user if the approvals do
  /// not decide.
  /// @param path of the file, without symbolic links
  /// @return whether the project's file was just approved, so that its settings must be read again
  /// Errors: the user declined, or cannot be asked; the store cannot be used; InputRequired.
  Outcome<bool> require(const ToolCall &call, const std::string &path,
                        const consent::ProjectFile &file);

private:
  using Subject = std::pair<std::string, std::string>; ///< folder; content of the project's file

  /// Errors: as require().
  Outcome<std::string> answer_of(const ToolCall &call, const server::TrustQuestion &question,
                                 const Subject &subject);
  std::string signed_state(const ToolCall &call, const Subject &subject, long expires_s) const;
  bool is_own_state(const ToolCall &call, const Subject &subject) const;

  consent::ApprovalStore store_;
  std::string root_, key_;
  Exclusive<std::set<Subject>> declined_;
};

} // namespace warpwright::mcp
