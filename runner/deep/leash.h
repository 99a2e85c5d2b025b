// Ends a process that others started for us. A tool starts the launch as its own child, so killing the tool
// is not enough: the launch waits for a lock that we hold, and ends itself when it gets it, be it that we
// released the lock or died. No polling, and no guess about who is whose parent.
#pragma once

#include "support/error.h"

#include <string>

namespace warpwright::runner::deep {

/// The holder's side.
class Leash {
public:
  /// @param path of a file to make. Errors: it cannot be made.
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

/// The held process's side: from here on it ends with `exit_code` when the leash is released. A file that
/// cannot be opened counts as released.
void follow_leash(const std::string &path, int exit_code);

} // namespace warpwright::runner::deep
