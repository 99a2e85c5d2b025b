// Open questions of trust about a document, their wording and their answers, for the sessions of
// editors (server/trust.h) and of agents (server/mcp). Thread: any.
#pragma once

#include "analysis/consent/approvals.h"
#include "analysis/consent/project_request.h"

namespace warpwright::server {

/// Parts of a document's trust that the user has not decided.
struct OpenTrust {
  std::string folder; ///< folder to approve; empty: trusted already
  bool file = false;  ///< the project's file can be approved and is not
  bool file_was_approved_meanwhile = false; ///< since it was read

  bool is_settled() const { return folder.empty() && !file; }
};

/// @param path of the document, without symbolic links
/// @param folders open folders, without symbolic links: an approval covers the one that contains
/// the document
OpenTrust open_trust(const consent::Approved &approved, const consent::ProjectFile &file,
                     const std::string &path, const std::vector<std::string> &folders);

/// Answers to offer, and the question.
struct TrustQuestion {
  std::string text;
  std::vector<std::string> answers; ///< the last one declines
};
TrustQuestion trust_question(const OpenTrust &open, const consent::ProjectFile &file);

/// The approval that an answer gives.
struct TrustAnswer {
  bool folder = false, file = false;
};
TrustAnswer trust_answer(const OpenTrust &open, const std::string &answer);

/// Stores an approval. The file is approved with the content that was shown.
/// Errors: the store cannot be written.
Result<void> keep_trust(const consent::ApprovalStore &store, const std::string &folder,
                        const consent::ProjectFile *file);

/// Whether a folder is too wide to approve as a whole: the home directory, its parents, and folders
/// that every user may write, such as /tmp.
bool is_too_wide(const std::string &folder);

} // namespace warpwright::server
