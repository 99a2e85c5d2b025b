// Scheduler of document analyses.
//
// At most one stub pass and one full pass of a document run at a time. Edits during a pass are
// merged into the next pass, which takes the newest text, and results for old texts are dropped.
// The stub pass answers first; the full pass, if a toolkit is found, replaces its facts for the
// same version. Analyses run on the pool. Thread: the strand.
#pragma once

#include "server/documents.h"
#include "server/pool.h"
#include "server/snapshot.h"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <stop_token>

namespace warpwright::server {

/// The two passes that the scheduler runs. Thread: any; for one open document, `full` runs at most
/// once at a time.
struct Analyses {
  std::function<AnalysisResult(const std::string &path, const std::string &text)> stub;
  /// nullopt: no facts beyond the stub pass, or a requested stop. May be unset.
  std::function<std::optional<AnalysisResult>(const std::string &path, const std::string &text,
                                              std::stop_token)>
      full;
  std::function<void(const std::string &path)> closed; ///< frees state of `full`; may be unset
};

class Scheduler {
public:
  using SnapshotCallback = std::function<void(SnapshotPtr)>;

  Scheduler(boost::asio::any_io_executor strand, Pool &pool, Analyses analyses)
      : strand_(std::move(strand)), pool_(pool), analyses_(std::move(analyses)) {}

  /// Sets the callback for published snapshots.
  void on_snapshot(SnapshotCallback callback) { publish_ = std::move(callback); }
  /// Analyzes a document that was opened or changed, or that depends on a changed file.
  void update(const Document &document, protocol::PositionEncoding encoding);
  void close(const std::string &uri);
  /// Calls back with facts of the document's current version, at once or after the analysis; with
  /// null if the document is closed before.
  void with_snapshot(const std::string &uri, SnapshotCallback callback);
  /// Like with_snapshot, but waits for a running stub pass, for a document that was just updated.
  void with_next_snapshot(const std::string &uri, SnapshotCallback callback);
  /// The newest snapshot, perhaps of an older version; null before the first.
  SnapshotPtr latest(const std::string &uri) const;
  void stop();

private:
  struct Entry {
    Document document;
    protocol::PositionEncoding encoding = protocol::PositionEncoding::Utf16;
    SnapshotPtr snapshot;
    bool stub_running = false, full_running = false;
    std::stop_source full_stop;
    std::vector<SnapshotCallback> waiting;
    std::uint64_t revision = 0;   ///< counts updates
    std::uint64_t generation = 0; ///< distinguishes a reopened document from the closed one
  };
  void run_stub(Entry &entry);
  void run_full(Entry &entry);
  Entry *find(const std::string &uri, std::uint64_t generation);
  void finish(Entry &entry, SnapshotPtr snapshot);

  boost::asio::any_io_executor strand_;
  Pool &pool_;
  Analyses analyses_;
  SnapshotCallback publish_;
  std::map<std::string, Entry> entries_;
  std::uint64_t generations_ = 0;
};

} // namespace warpwright::server
