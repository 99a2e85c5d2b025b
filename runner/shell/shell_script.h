// The line of POSIX shell that runs at the target: it reports the machine, receives the runner if
// the machine lacks it, and becomes the runner. One connection does all of it, so the user
// authenticates once.
//
//   there -> here   NONCE have|need|absent SYSTEM MACHINE [glibc VERSION]
//   here -> there   BYTES SHA256 and a newline, then the archive; only after `need`
//   there -> here   NONCE failed FOLDER; the shell ends
//   there -> here   NONCE start; the shell becomes `warpwright-runner connect`
//   there -> here   NONCE up; every byte after this line belongs to the runner's protocol
//
// Lines without the nonce are a greeting of the login shell and are ignored. Thread: any.
#pragma once

#include "runner/shell/shell_url.h"

namespace warpwright::runner {

/// @param nonce letters and digits that no greeting contains
/// @param key of the files to copy (RunnerFiles::key); unused with target.runner
std::string shell_script(const ShellTarget &target, const std::string &nonce,
                         const std::string &key);

} // namespace warpwright::runner
