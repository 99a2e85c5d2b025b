// What is known from runners about the kernels of open files: the ledger, read and written off the
// strand.
//
// The ledger belongs to one thread of this object; the strand sees immutable lists. An unwritable
// ledger costs persistence, not the session: entries of this session are kept in memory and the
// error is reported once. Thread: the strand.
#pragma once

#include "runner/ledger/ledger.h"
#include "server/pool.h"

#include <boost/asio/any_io_executor.hpp>
#include <filesystem>
#include <functional>
#include <map>

namespace warpwright::server {

using Entries = std::vector<runner::LedgerEntry>; ///< newest first
using EntriesPtr = std::shared_ptr<const Entries>;

class Measurements {
public:
  using OpenLedger = std::function<Result<std::unique_ptr<runner::Ledger>>()>;
  struct Events {
    std::function<void(const std::string &file)> on_loaded; ///< lists of that file may differ now
    std::function<void(const Error &)> on_error;            ///< once
    /// Once: the first row that cannot be read, and how many the same kernel has.
    std::function<void(const Error &, std::size_t count)> on_unreadable = {};
  };

  Measurements(boost::asio::any_io_executor strand, OpenLedger open, Events events);
  ~Measurements() { stop(); }

  /// Reads the kernels that have not been read yet.
  void load(const std::string &file, const std::vector<std::string> &kernels);
  /// Visible to of() at once, then written. Replaces an entry with the same plan on the same
  /// device.
  void record(runner::LedgerEntry entry);
  /// Never null.
  EntriesPtr of(const std::string &file, const std::string &kernel) const;
  /// Waits for what is being written.
  void stop() { pool_.finish(); }

private:
  using Key = std::pair<std::string, std::string>;
  struct Store; ///< the ledger, on the pool's one thread
  void report(Result<void> result);

  boost::asio::any_io_executor strand_;
  Events events_;
  std::shared_ptr<Store> store_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::map<Key, EntriesPtr> entries_;
  bool reported_ = false, told_unreadable_ = false;
  Pool pool_{1};
};

} // namespace warpwright::server
