// Measurements of the kernels of files: the ledger, read and written off the strand.
//
// The ledger belongs to one thread of this object; the strand sees immutable lists. If the ledger
// cannot be written, the session keeps its entries in memory and reports the error once. Thread:
// the strand.
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
    std::function<void(const std::string &file)> on_loaded; ///< the file's lists may have changed
    std::function<void(const Error &)> on_error;            ///< called at most once
    /// Called at most once: the first row that cannot be read, and the number of such rows of its
    /// kernel.
    std::function<void(const Error &, std::size_t count)> on_unreadable = {};
  };

  Measurements(boost::asio::any_io_executor strand, OpenLedger open, Events events);
  ~Measurements() { stop(); }

  /// Reads the entries of kernels that were not read before.
  void load(const std::string &file, const std::vector<std::string> &kernels);
  /// Adds an entry, which of() returns at once, and writes it to the ledger. The entry replaces one
  /// with the same task, plan, device and driver.
  void record(runner::LedgerEntry entry);
  /// Entries of a kernel; never null.
  EntriesPtr of(const std::string &file, const std::string &kernel) const;
  /// Waits for pending reads and writes.
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
