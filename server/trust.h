// Trust of a session: whether the code of a document may be built and run, and whether the requests
// of its project apply. The user's approvals decide; without an approval the user is asked.
//
// A client with its own trust sets `trusted`; then only a project's .warpwright.toml needs an
// approval. For other clients the document's folder also needs one, when the user first wants its
// code built or run. The store is read on the pool. server/cli/trust.cpp serves the command line.
// Thread: the strand.
#pragma once

#include "analysis/consent/approvals.h"
#include "server/editor_client.h"
#include "server/pool.h"
#include "server/snapshot.h"
#include "server/trust_questions.h"

#include <boost/asio/any_io_executor.hpp>

namespace warpwright::server {

class Trust {
public:
  enum class Answer {
    Refused,
    Granted,
    GrantedMore, ///< the project's file was just approved: analyze the document again
  };
  using Done = std::function<void(Result<Answer>)>;

  Trust(boost::asio::any_io_executor strand, Pool &pool, EditorClient &client,
        consent::ApprovalStore store)
      : strand_(std::move(strand)), pool_(pool), client_(client), store_(std::move(store)) {}

  /// Sets the client's open folders. An approval covers the open folder that contains a document.
  void set_folders(std::vector<std::string> folders);

  /// Finds out whether the code of this document may be built and run. If the approvals do not
  /// decide, the user is asked.
  /// @param said the client's own trust
  /// Errors, to `done`: the store cannot be read or written.
  void permit(const SnapshotPtr &snapshot, std::optional<bool> said, Done done);
  /// Asks about the project's file, or shows a message about it, when this content is first seen.
  void mention(const SnapshotPtr &snapshot, std::optional<bool> said, Done done);
  /// Asks about everything of the document that is not approved, at the user's request.
  void review(const SnapshotPtr &snapshot, std::optional<bool> said, Done done);

private:
  using Known = std::pair<std::string, std::string>; ///< identity and content hash of a project's file

  void look(const SnapshotPtr &snapshot, std::optional<bool> said,
            std::function<void(Result<OpenTrust>)> done);
  void ask(const SnapshotPtr &snapshot, const OpenTrust &open, Done done);
  void approve(const SnapshotPtr &snapshot, const std::string &folder, bool file, Done done);

  boost::asio::any_io_executor strand_;
  Pool &pool_;
  EditorClient &client_;
  consent::ApprovalStore store_;
  std::vector<std::string> folders_; ///< without symbolic links
  std::set<Known> mentioned_, declined_;
};

} // namespace warpwright::server
