// Whether this session may build and run what a document holds, and what the document's project may
// ask for: kept in the user's approvals, and asked of the user where they do not say.
//
// A client with a notion of trust says so in the setting `trusted`, and then only a project's
// .warpwright.toml is asked about. For every other client the folder of the document has to be
// approved too: the first time that the user wants something of it built or run. The store is read on
// the pool. Leaves out the command line, which is server/cli/trust.cpp. Thread: the strand.
#pragma once

#include "analysis/consent/approvals.h"
#include "server/editor_client.h"
#include "server/pool.h"
#include "server/snapshot.h"

#include <boost/asio/any_io_executor.hpp>

namespace warpwright::server {

class Trust {
public:
  enum class Answer {
    Refused,
    Granted,
    GrantedMore, ///< and the project's file has just been approved: analyse the document again
  };
  using Done = std::function<void(Result<Answer>)>;

  Trust(boost::asio::any_io_executor strand, Pool &pool, EditorClient &client,
        consent::ApprovalStore store)
      : strand_(std::move(strand)), pool_(pool), client_(client), store_(std::move(store)) {}

  /// Folders that the client has open; approvals are for the one that holds a document.
  void set_folders(std::vector<std::string> folders);

  /// May the code of this document be built and run? Asks the user where the approvals do not say.
  /// @param said the client's own notion of trust Errors, to `done`: the store cannot be written.
  void permit(const SnapshotPtr &snapshot, std::optional<bool> said, Done done);
  /// Asks about the project's file, or tells of it, when it is first met with this content.
  void mention(const SnapshotPtr &snapshot, std::optional<bool> said, Done done);
  /// Asks about all that is not approved of the document, because the user wants to approve it.
  void review(const SnapshotPtr &snapshot, std::optional<bool> said, Done done);

private:
  /// What is left to ask.
  struct Open {
    std::string folder; ///< to be trusted; empty: it is
    bool file = false;  ///< the project's file is not approved, and can be
    bool file_was_approved_meanwhile = false;
  };
  using Known = std::pair<std::string, std::string>; ///< identity and content of a project's file

  void look(const SnapshotPtr &snapshot, std::optional<bool> said,
            std::function<void(Result<Open>)> done);
  void ask(const SnapshotPtr &snapshot, const Open &open, Done done);
  void approve(const SnapshotPtr &snapshot, const std::string &folder, bool file, Done done);
  std::string folder_of(const std::string &path) const;

  boost::asio::any_io_executor strand_;
  Pool &pool_;
  EditorClient &client_;
  consent::ApprovalStore store_;
  std::vector<std::string> folders_; ///< without symbolic links
  std::set<Known> mentioned_, declined_;
};

/// Whether to approve the folder as a whole would be too much: the home directory, what holds it, and
/// folders that every user may write, such as /tmp.
bool is_too_wide(const std::string &folder);

} // namespace warpwright::server
