// When a document is analysed, and who gets the result.
//
// At most one analysis of a document runs at a time, always of its newest text; edits that come
// meanwhile are folded into the next one, and results for old versions are dropped. The stub pass
// answers first; the full pass, where a toolkit is found, replaces its facts for the same version.
// Analyses run on the pool; this object lives on the strand.
#pragma once

#include "server/documents.h"
#include "server/pool.h"
#include "server/snapshot.h"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <stop_token>

namespace warpwright::server {

/// The two passes as the scheduler runs them. Thread: any, but `full` never twice at once for one
/// path.
struct Analyses {
  std::function<AnalysisResult(const std::string &path, const std::string &text)> stub;
  /// nullopt: there is no toolkit, or it was told to stop. Unset: never.
  std::function<std::optional<AnalysisResult>(const std::string &path, const std::string &text,
                                              std::stop_token)>
      full;
  std::function<void(const std::string &path)> closed; ///< frees what `full` keeps; may be unset
};

class Scheduler {
public:
  using SnapshotCallback = std::function<void(SnapshotPtr)>;

  Scheduler(boost::asio::any_io_executor strand, Pool &pool, Analyses analyses)
      : strand_(std::move(strand)), pool_(pool), analyses_(std::move(analyses)) {}

  /// Called with every snapshot as it is published.
  void on_snapshot(SnapshotCallback callback) { publish_ = std::move(callback); }
  /// A document was opened or changed, or something else that its analysis depends on has.
  void update(const Document &document, protocol::PositionEncoding encoding);
  void close(const std::string &uri);
  /// Calls back with facts of the document's current version, at once or when they are there; with
  /// null when it is closed before.
  void with_snapshot(const std::string &uri, SnapshotCallback callback);
  /// The same after the analysis that runs, for a document that was just updated.
  void with_next_snapshot(const std::string &uri, SnapshotCallback callback);
  /// The newest there is, perhaps of an older version; null before the first.
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
    std::uint64_t generation = 0; ///< tells a reopened document from the one that was closed
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
