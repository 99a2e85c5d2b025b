// Facts of files that no editor has open, for the list of a workspace's kernels.
//
// One file at a time is read and parsed on the pool, so that edits of open documents never wait for more than one of them. Texts
// that cannot hold a kernel are not parsed, and what was read is kept until the file's size or time changes. The first pass only:
// headers are not read. Thread: the strand.
#pragma once

#include "server/pool.h"
#include "server/snapshot.h"

#include <boost/asio/any_io_executor.hpp>
#include <filesystem>
#include <functional>
#include <map>

namespace warpwright::server {

class WorkspaceFiles {
public:
  using Analyze = std::function<AnalysisResult(const std::string &path, const std::string &text)>;
  using Done = std::function<void(std::vector<SnapshotPtr>)>;

  WorkspaceFiles(boost::asio::any_io_executor strand, Pool &pool, Analyze analyze)
      : strand_(std::move(strand)), pool_(pool), analyze_(std::move(analyze)) {}

  /// Calls back once with the files that hold kernels, in the order asked; those that cannot be read are left out.
  void read(std::vector<std::string> uris, protocol::PositionEncoding encoding, Done done);
  /// Readings under way end without calling back.
  void stop() { alive_.reset(); }

private:
  struct Known {
    std::filesystem::file_time_type time;
    std::uintmax_t size = 0;
    SnapshotPtr snapshot; ///< null: no kernels
  };
  struct Reading {
    std::vector<std::string> uris;
    std::size_t next = 0;
    protocol::PositionEncoding encoding;
    Done done;
    std::vector<SnapshotPtr> found;
  };
  void read_next(std::shared_ptr<Reading> reading);

  boost::asio::any_io_executor strand_;
  Pool &pool_;
  Analyze analyze_;
  std::map<std::string, Known> known_; ///< by URI
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

} // namespace warpwright::server
