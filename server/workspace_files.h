// Facts of files that are not open in the editor, for the list of a workspace's kernels.
//
// The pool reads and parses one file at a time, so that edits of open documents wait for at most
// one of these files. Texts that cannot contain a kernel are not parsed. Results are kept until the
// file's size or time changes. Only the first pass runs, which reads no headers. Thread: the
// strand.
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

  /// Calls back once with the files that contain kernels, in the given order; unreadable files are
  /// left out.
  void read(std::vector<std::string> uris, protocol::PositionEncoding encoding, Done done);
  /// Ends running reads without a callback.
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
