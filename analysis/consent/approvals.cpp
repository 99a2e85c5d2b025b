// Implementation of the approval store: reading, locking and replacing the file.
#include "analysis/consent/approvals.h"

#include "support/files.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace warpwright::consent {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A lock that is held until it is destroyed. It uses a separate file, because the store is
/// replaced.
class Lock {
public:
  static Result<Lock> take(const fs::path &path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int locked = -1;
    while (descriptor >= 0 && (locked = ::flock(descriptor, LOCK_EX)) != 0 && errno == EINTR) {
    }
    if (locked == 0)
      return Lock(descriptor);
    const std::string reason = std::strerror(errno);
    if (descriptor >= 0)
      ::close(descriptor);
    return fail("cannot lock " + path.string() + ": " + reason,
                "Check that the folder is writable");
  }
  Lock(Lock &&other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Lock &operator=(Lock &&) = delete;
  ~Lock() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
  }

private:
  explicit Lock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

/// Creates an empty store with mode 0600 if there is none. A later replacement keeps that mode.
Result<void> make_private(const fs::path &path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0)
    return errno == EEXIST ? Result<void>()
                           : fail("cannot make " + path.string() + ": " + std::strerror(errno));
  const bool written = ::write(descriptor, "{}", 2) == 2;
  ::close(descriptor);
  return written ? Result<void>() : fail("cannot write " + path.string(), "Check the disk's space");
}

Result<Approved> parse(const std::string &text, const fs::path &path) {
  const auto broken = [&] {
    return fail(path.string() + " is not a store of approvals",
                "Remove it, and approve again what you trust");
  };
  if (text.empty())
    return Approved{}; // its creator was killed before it wrote
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object())
    return broken();
  const json files = document.value("files", json::object());
  const json folders = document.value("folders", json::array());
  if (!files.is_object() || !folders.is_array())
    return broken();
  Approved approved;
  for (const auto &[file, hash] : files.items()) {
    if (!hash.is_string())
      return broken();
    approved.files[file] = hash.get<std::string>();
  }
  for (const json &folder : folders) {
    if (!folder.is_string())
      return broken();
    approved.folders.insert(folder.get<std::string>());
  }
  return approved;
}

} // namespace

bool Approved::approves(const std::string &file, const std::string &content_hash) const {
  const auto found = files.find(file);
  return found != files.end() && found->second == content_hash;
}

bool Approved::trusts(const std::string &path) const {
  for (fs::path folder = path; folder.has_relative_path(); folder = folder.parent_path())
    if (folders.contains(folder.string()))
      return true;
  return folders.contains("/");
}

std::optional<std::string> read_own(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return file.is_open() && !file.bad() ? std::optional(std::move(text)) : std::nullopt;
}

fs::path user_folder(const char *variable, const char *below_home) {
  const char *chosen = std::getenv(variable), *home = std::getenv("HOME");
  if (chosen && fs::path(chosen).is_absolute())
    return chosen;
  return home && fs::path(home).is_absolute() ? fs::path(home) / below_home : fs::path();
}

fs::path ApprovalStore::default_path() {
  const fs::path state = user_folder("XDG_STATE_HOME", ".local/state");
  return state.empty() ? fs::path() : state / "warpwright" / "approvals.json";
}

Result<Approved> ApprovalStore::read() const {
  struct stat status {};
  if (path_.empty() || (::stat(path_.c_str(), &status) != 0 && errno == ENOENT))
    return Approved{};
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 022))
    return fail("the approvals in " + path_.string() +
                    " are not used, because others than you may write them",
                "Remove the file, and approve again what you trust");
  if (const auto text = read_own(path_))
    return parse(*text, path_);
  return fail("cannot read " + path_.string(), "Remove it, and approve again what you trust");
}

Result<void> ApprovalStore::update(const std::function<void(Approved &)> &change) const {
  if (path_.empty())
    return fail("approvals cannot be kept without a home directory", "Set HOME or XDG_STATE_HOME");
  std::error_code error;
  fs::create_directories(path_.parent_path(), error);
  if (error)
    return fail("cannot make " + path_.parent_path().string() + ": " + error.message());
  const auto lock = Lock::take(path_.string() + ".lock");
  if (!lock)
    return std::unexpected(lock.error());
  if (const auto made = make_private(path_); !made)
    return made;
  Result<Approved> approved = read();
  if (!approved)
    return std::unexpected(approved.error());
  change(*approved);
  const json document = {{"files", approved->files}, {"folders", approved->folders}};
  return write_atomically(path_,
                          document.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

std::string real_path(const std::string &path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return (error ? fs::path(path).lexically_normal() : real).string();
}

} // namespace warpwright::consent
