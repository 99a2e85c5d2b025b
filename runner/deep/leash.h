// A lock that ends a process started by another program. A tool starts the launch as its own child,
// so killing the tool is not enough. The launch waits for a lock held by this process and exits
// when it gets it, because the lock was released or its holder died. This needs no polling and no
// knowledge of parent processes.
#pragma once

#include "support/error.h"

#include <string>

namespace warpwright::runner::deep {

/// The holder's side.
class Leash {
public:
  /// @param path of the lock file to create. Errors: it cannot be created.
  static Result<Leash> make(const std::string &path);
  Leash(Leash &&other) noexcept;
  Leash &operator=(Leash &&other) noexcept;
  ~Leash() { release(); }
  const std::string &path() const { return path_; }
  void release();

private:
  Leash() = default;
  std::string path_;
  int descriptor_ = -1;
};

/// The held process's side: from now on, the process exits with `exit_code` when the leash is
/// released. A file that cannot be opened counts as released.
void follow_leash(const std::string &path, int exit_code);

} // namespace warpwright::runner::deep
