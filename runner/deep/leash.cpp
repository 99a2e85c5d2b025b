// Leash by flock(2). The lock belongs to the open file, which is closed in child processes
// (O_CLOEXEC), and the kernel releases it with its last descriptor.
#include "runner/deep/leash.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace warpwright::runner::deep {

Result<Leash> Leash::make(const std::string &path) {
  Leash leash;
  leash.path_ = path;
  leash.descriptor_ = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (leash.descriptor_ < 0 || ::flock(leash.descriptor_, LOCK_EX | LOCK_NB) != 0)
    return fail("cannot lock " + path + ": " + std::strerror(errno));
  return leash;
}

Leash::Leash(Leash &&other) noexcept { *this = std::move(other); }

Leash &Leash::operator=(Leash &&other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void Leash::release() {
  if (descriptor_ >= 0)
    ::close(std::exchange(descriptor_, -1));
}

void follow_leash(const std::string &path, int exit_code) {
  std::thread([path, exit_code] {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    int status = 0;
    do
      status = descriptor < 0 ? 0 : ::flock(descriptor, LOCK_SH);
    while (status != 0 && errno == EINTR);
    std::_Exit(exit_code);
  }).detach();
}

} // namespace warpwright::runner::deep
