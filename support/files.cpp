#include "support/files.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace warpwright {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> fail_to(const std::string &action, const fs::path &path, int cause,
                               const std::string &remedy) {
  return fail("cannot " + action + " " + path.string() + ": " + std::strerror(cause), remedy);
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR)
      return false;
    bytes.remove_prefix(written > 0 ? std::size_t(written) : 0);
  }
  return true;
}

/// Forces the name of a new file to the disk. Errors are ignored: file systems without this
/// operation order names themselves.
void sync_folder(const fs::path &file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  ::fsync(descriptor);
  ::close(descriptor);
}

bool read_all(int file, std::string &text) {
  char block[1 << 16];
  for (off_t at = 0;;) {
    const ssize_t size = ::pread(file, block, sizeof block, at);
    if (size < 0 && errno == EINTR)
      continue;
    if (size <= 0)
      return size == 0;
    text.append(block, std::size_t(size));
    at += size;
  }
}

/// Bytes up to the end of the last whole line; -1 with errno.
off_t end_of_lines(int file) {
  struct stat status{};
  if (::fstat(file, &status) < 0)
    return -1;
  char block[4096];
  for (off_t end = status.st_size; end > 0;) {
    const off_t begin = std::max<off_t>(end - off_t(sizeof block), 0);
    const ssize_t size = ::pread(file, block, std::size_t(end - begin), begin);
    if (size < 0)
      return -1;
    const auto newline = std::string_view(block, std::size_t(size)).rfind('\n');
    if (newline != std::string_view::npos)
      return begin + off_t(newline) + 1;
    end = begin;
  }
  return 0;
}

/// flock of a descriptor, for a scope.
class Locked {
public:
  explicit Locked(int descriptor) : descriptor_(descriptor) {
    do
      holds_ = ::flock(descriptor_, LOCK_EX) == 0;
    while (!holds_ && errno == EINTR);
  }
  Locked(const Locked &) = delete;
  ~Locked() {
    if (holds_)
      ::flock(descriptor_, LOCK_UN);
  }
  bool holds() const { return holds_; }

private:
  int descriptor_;
  bool holds_ = false;
};

/// Adds whole lines after the last whole line, or nothing. @return whether the lines are on the
/// disk; sets errno if not
bool add_lines(int file, std::string_view lines) {
  const off_t end = end_of_lines(file);
  if (end < 0 || ::ftruncate(file, end) < 0)
    return false;
  if (write_all(file, lines) && ::fsync(file) == 0)
    return true;
  const int cause = errno;
  if (::ftruncate(file, end) < 0) { // the next writer drops the half line
  }
  errno = cause;
  return false;
}

constexpr const char *kRoom = "Check the folder, its permissions and the space on its disk";

} // namespace

Result<std::string> read_file(const fs::path &path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return fail_to("read", path, errno, "Check the path and its permissions");
  std::string text;
  char block[1 << 16];
  ssize_t size = 0;
  while ((size = ::read(file, block, sizeof block)) > 0 || (size < 0 && errno == EINTR))
    text.append(block, size > 0 ? std::size_t(size) : 0);
  const int cause = errno;
  ::close(file);
  if (size < 0)
    return fail_to("read", path, cause, "Check the path and its permissions");
  return text;
}

Result<void> write_atomically(const fs::path &path, std::string_view bytes) {
  std::error_code ignored;
  const fs::path target = fs::exists(path, ignored) ? fs::canonical(path, ignored) : path;
  std::string temporary = target.string() + ".warpwright-XXXXXX";
  const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0)
    return fail_to("write beside", target, errno, kRoom);
  struct stat status{};
  const mode_t mode = ::stat(target.c_str(), &status) == 0 ? status.st_mode & 07777 : 0644;
  const bool written = write_all(file, bytes) && ::fchmod(file, mode) == 0 && ::fsync(file) == 0;
  int cause = errno;
  ::close(file);
  if (written && ::rename(temporary.c_str(), target.c_str()) == 0) {
    sync_folder(target);
    return {};
  }
  cause = written ? errno : cause;
  ::unlink(temporary.c_str());
  return fail_to("write", target, cause, std::string(kRoom) + ". The file is unchanged");
}

Result<LineFile>
LineFile::open(const fs::path &path,
               const std::function<Result<std::string>(const std::string &lines)> &check) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0)
    return fail_to("open", path, errno, kRoom);
  LineFile file(path, descriptor);
  const Locked lock(descriptor);
  std::string text;
  if (!lock.holds() || !read_all(descriptor, text))
    return fail_to(lock.holds() ? "read" : "lock", path, errno, kRoom);
  text.resize(text.rfind('\n') + 1); // npos + 1 is 0
  const auto addition = TRY(check(text));
  if (!add_lines(descriptor, addition))
    return fail_to("write", path, errno, kRoom);
  sync_folder(path);
  return file;
}

LineFile::LineFile(LineFile &&other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

LineFile &LineFile::operator=(LineFile &&other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

LineFile::~LineFile() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

Result<void> LineFile::append(std::string_view line) {
  const Locked lock(descriptor_);
  if (!lock.holds() || !add_lines(descriptor_, std::string(line) + "\n"))
    return fail_to("write", path_, errno, std::string(kRoom) + ". Earlier lines are kept");
  return {};
}

Result<std::optional<FileLock>> FileLock::try_take(const fs::path &path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0)
    return fail_to("open", path, errno, kRoom);
  FileLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return lock;
  if (errno == EWOULDBLOCK)
    return std::nullopt;
  return fail_to("lock", path, errno, "Its file system must have flock");
}

FileLock::FileLock(FileLock &&other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock &FileLock::operator=(FileLock &&other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

} // namespace warpwright
