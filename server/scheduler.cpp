// Implementation of the scheduler. An edit causes a stub pass on the pool, a snapshot on the
// strand, a full pass on the pool, and a second snapshot.
#include "server/scheduler.h"

namespace warpwright::server {

namespace {

/// Facts of a document whose analysis threw an exception: only the error.
AnalysisResult failed_facts(const std::string &path, const std::string &reason) {
  analysis::FileFacts facts;
  facts.path = path;
  facts.diagnostics.push_back({.rule = "internal",
                               .severity = analysis::Severity::Error,
                               .message = "Warpwright could not analyze this file: " + reason,
                               .line = 1,
                               .column = 1});
  return {std::move(facts), {}};
}

} // namespace

void Scheduler::update(const Document &document, protocol::PositionEncoding encoding) {
  Entry &entry = entries_[document.uri];
  if (entry.generation == 0)
    entry.generation = ++generations_;
  entry.document = document;
  entry.encoding = encoding;
  ++entry.revision;
  entry.full_stop.request_stop();
  if (!entry.stub_running)
    run_stub(entry);
}

void Scheduler::run_stub(Entry &entry) {
  entry.stub_running = true;
  pool_.post([this, stub = analyses_.stub, strand = strand_, document = entry.document,
              encoding = entry.encoding, generation = entry.generation, revision = entry.revision] {
    SnapshotPtr snapshot;
    try {
      snapshot = std::make_shared<Snapshot>(document.uri, document.version, document.text,
                                            stub(document.path, *document.text), encoding);
    } catch (const std::exception &error) {
      snapshot = std::make_shared<Snapshot>(document.uri, document.version, document.text,
                                            failed_facts(document.path, error.what()), encoding);
    }
    boost::asio::post(strand, [this, snapshot, uri = document.uri, generation, revision] {
      Entry *current = find(uri, generation);
      if (!current)
        return;
      current->stub_running = false;
      if (current->revision != revision)
        return run_stub(*current);
      finish(*current, snapshot);
      if (current = find(uri, generation); current && analyses_.full && !current->full_running &&
                                           snapshot->facts.pass != analysis::Pass::Full)
        run_full(*current);
    });
  });
}

void Scheduler::run_full(Entry &entry) {
  entry.full_running = true;
  entry.full_stop = {};
  pool_.post([this, full = analyses_.full, strand = strand_, document = entry.document,
              encoding = entry.encoding, generation = entry.generation, revision = entry.revision,
              stop = entry.full_stop.get_token()] {
    SnapshotPtr snapshot;
    try {
      if (auto facts = full(document.path, *document.text, stop))
        snapshot = std::make_shared<Snapshot>(document.uri, document.version, document.text,
                                              std::move(*facts), encoding);
    } catch (const std::exception &error) {
      snapshot = std::make_shared<Snapshot>(document.uri, document.version, document.text,
                                            failed_facts(document.path, error.what()), encoding);
    }
    boost::asio::post(strand, [this, snapshot, uri = document.uri, generation, revision] {
      Entry *current = find(uri, generation);
      if (!current)
        return;
      current->full_running = false;
      if (current->revision == revision && snapshot)
        finish(*current, snapshot);
      else if (current->revision != revision && !current->stub_running)
        run_full(*current);
    });
  });
}

void Scheduler::finish(Entry &entry, SnapshotPtr snapshot) {
  entry.snapshot = snapshot;
  const auto waiting = std::exchange(entry.waiting, {});
  if (publish_)
    publish_(snapshot);
  for (const SnapshotCallback &callback : waiting)
    callback(snapshot);
}

void Scheduler::close(const std::string &uri) {
  const auto found = entries_.find(uri);
  if (found == entries_.end())
    return;
  found->second.full_stop.request_stop();
  if (analyses_.closed)
    analyses_.closed(found->second.document.path);
  const auto waiting = std::move(found->second.waiting);
  entries_.erase(found);
  for (const SnapshotCallback &callback : waiting)
    callback(nullptr);
}

void Scheduler::with_snapshot(const std::string &uri, SnapshotCallback callback) {
  const auto found = entries_.find(uri);
  if (found == entries_.end())
    return callback(nullptr);
  Entry &entry = found->second;
  if (entry.snapshot && entry.snapshot->text == entry.document.text)
    return callback(entry.snapshot);
  entry.waiting.push_back(std::move(callback));
}

void Scheduler::with_next_snapshot(const std::string &uri, SnapshotCallback callback) {
  const auto found = entries_.find(uri);
  if (found == entries_.end() || !found->second.stub_running)
    return with_snapshot(uri, std::move(callback));
  found->second.waiting.push_back(std::move(callback));
}

SnapshotPtr Scheduler::latest(const std::string &uri) const {
  const auto found = entries_.find(uri);
  return found == entries_.end() ? nullptr : found->second.snapshot;
}

Scheduler::Entry *Scheduler::find(const std::string &uri, std::uint64_t generation) {
  const auto found = entries_.find(uri);
  return found == entries_.end() || found->second.generation != generation ? nullptr
                                                                           : &found->second;
}

void Scheduler::stop() {
  for (auto &[uri, entry] : entries_)
    entry.full_stop.request_stop();
}

} // namespace warpwright::server
