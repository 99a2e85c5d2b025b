// Private directories. Their names contain the boot id, the PID namespace and the runner's process
// id, so that a process removes a directory only if it can tell that its runner has ended.
#include "runner/isolation/private_directory.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;

fs::path temporary_root() {
  const char *chosen = std::getenv("TMPDIR");
  return chosen && *chosen ? chosen : "/tmp";
}

/// "warpwright-1f3a9c02-4026531836-"; empty: the kernel does not provide the parts.
std::string prefix() {
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string boot_id;
  std::error_code error;
  const std::string space = fs::read_symlink("/proc/self/ns/pid", error).string(); // pid:[N]
  if (!std::getline(boot, boot_id) || boot_id.size() < 8 || error || space.size() < 7)
    return "";
  return "warpwright-" + boot_id.substr(0, 8) + "-" + space.substr(5, space.size() - 6) + "-";
}

} // namespace

std::optional<PrivateDirectory> PrivateDirectory::make() {
  const std::string known = prefix();
  std::string name = (temporary_root() / ((known.empty() ? "warpwright-" : known) +
                                          std::to_string(getpid()) + "-XXXXXX"))
                         .string();
  if (!mkdtemp(name.data()))
    return std::nullopt;
  return PrivateDirectory(name);
}

void PrivateDirectory::remove_leftovers() {
  const std::string known = prefix();
  std::error_code error;
  if (known.empty())
    return;
  for (const fs::directory_entry &entry : fs::directory_iterator(temporary_root(), error)) {
    const std::string name = entry.path().filename().string();
    int pid = 0;
    if (!name.starts_with(known) || !entry.is_directory(error) || entry.is_symlink(error) ||
        std::from_chars(name.data() + known.size(), name.data() + name.size(), pid).ec !=
            std::errc() ||
        pid <= 0 || kill(pid, 0) == 0 || errno != ESRCH)
      continue;
    fs::remove_all(entry.path(), error);
  }
}

PrivateDirectory::PrivateDirectory(PrivateDirectory &&other) noexcept { *this = std::move(other); }

PrivateDirectory &PrivateDirectory::operator=(PrivateDirectory &&other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

PrivateDirectory::~PrivateDirectory() {
  std::error_code error;
  if (!path_.empty())
    fs::remove_all(path_, error);
}

} // namespace warpwright::runner
