// Shelves of compiled code: which code a worker's process may take, and where its own code goes.
//
// The judge's code (checks, timers, ceilings) is stored only by the service, from the `calibrate`
// process, which sees no client data. A process that runs no client files shares its code among the
// jobs of one owner. A process that runs client files (torch tasks) also takes code from those
// shelves, but its own code goes to a shelf for the same owner's same files only, because a client's
// Python could send arbitrary code. Thread: the service's strand.
#pragma once

#include "runner/service/sealed_store.h"

#include <nlohmann/json.hpp>

namespace warpwright::runner {

/// The owner and the client's code that a worker's process serves, from its first job to its end.
struct Binding {
  std::string owner;
  std::string code_hash; ///< of the client's files that the process runs; empty: it runs none
  bool operator==(const Binding &) const = default;
};

class CodeShelves {
public:
  explicit CodeShelves(SealedStore store) : store_(std::move(store)) {}

  /// Compiled code for `key`; null if there is none.
  /// @param binding nullopt: the process has had no job yet
  nlohmann::json find(const std::optional<Binding> &binding, const std::string &key) const;
  /// Stores `code` on the shelf of `binding`. Ignored without a binding or if `code` is not
  /// compiled code.
  void keep(const std::optional<Binding> &binding, const std::string &key,
            const nlohmann::json &code) const;
  /// Stores code of the judge. Only for code from a process that saw no client data.
  void keep_of_judge(const std::string &key, const nlohmann::json &code) const;

  const SealedStore &store() const { return store_; }

private:
  SealedStore store_;
};

} // namespace warpwright::runner
