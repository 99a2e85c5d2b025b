// Which compiled code a worker's process may take, and where the code that it compiled goes.
//
// Code of the judge (checks, timers, ceilings) is put down by the service alone, from a process that was given nothing of a
// client (`calibrate`). A process that runs no files of clients shares its code among the jobs of one owner. A process that runs
// them (torch tasks) takes from there too, but what it says it compiled serves the same owner's same task only: a client's own
// Python could send anything. Thread: the service's strand.
#pragma once

#include "runner/service/sealed_store.h"

#include <nlohmann/json.hpp>

namespace warpwright::runner {

/// Whom a worker's process serves, from its first job to its end.
struct Binding {
  std::string owner;
  std::string task_hash; ///< of a process that runs its files; empty: it runs none
  bool operator==(const Binding &) const = default;
};

class CodeShelves {
public:
  explicit CodeShelves(SealedStore store) : store_(std::move(store)) {}

  /// Null: none is known. @param binding nullopt: the process has had no job yet
  nlohmann::json find(const std::optional<Binding> &binding, const std::string &key) const;
  /// Dropped where the process has had no job, or `code` is none.
  void keep(const std::optional<Binding> &binding, const std::string &key,
            const nlohmann::json &code) const;
  /// Code of the judge; only from a process without a client.
  void keep_of_judge(const std::string &key, const nlohmann::json &code) const;

  const SealedStore &store() const { return store_; }

private:
  SealedStore store_;
};

} // namespace warpwright::runner
