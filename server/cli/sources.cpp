// Implementation of finding, reading and replacing files.
#include "server/cli/sources.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;

bool is_source(const fs::path &path) {
  return path.extension() == ".cu" || path.extension() == ".cuh";
}

Result<std::vector<fs::path>> walk(const fs::path &directory) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::recursive_directory_iterator entry(directory, fs::directory_options::skip_permission_denied,
                                         error),
      end;
  while (!error && entry != end) {
    const bool hidden = entry->path().filename().string().starts_with('.');
    if (hidden && entry->is_directory(error))
      entry.disable_recursion_pending();
    else if (entry->is_regular_file(error) && is_source(entry->path()))
      found.push_back(entry->path());
    entry.increment(error);
  }
  if (error)
    return fail("cannot read the directory " + directory.string() + ": " + error.message());
  if (found.empty())
    return fail("no .cu or .cuh file in " + directory.string(),
                "Name a directory with CUDA sources, or a file");
  std::sort(found.begin(), found.end());
  return found;
}

std::unexpected<Error> fail_errno(const std::string &action, const fs::path &path,
                                  const std::string &remedy = {}) {
  return fail("cannot " + action + " " + path.string() + ": " + std::strerror(errno), remedy);
}

/// A descriptor that closes itself.
struct Descriptor {
  int fd = -1;
  explicit Descriptor(int fd) : fd(fd) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
};

} // namespace

Result<std::vector<fs::path>> find_sources(const std::vector<std::string> &paths) {
  std::vector<fs::path> files;
  for (const std::string &path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status))
      return fail(path + ": no such file or directory",
                  "Check the path; it is relative to " + fs::current_path().string());
    if (!fs::is_directory(status)) {
      files.push_back(path);
      continue;
    }
    Result<std::vector<fs::path>> found = walk(path);
    if (!found)
      return std::unexpected(found.error());
    files.insert(files.end(), found->begin(), found->end());
  }
  return files;
}

Result<std::string> read_file(const fs::path &path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0)
    return fail_errno("open", path);
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(file.fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fail_errno("read", path);
    if (count == 0)
      return text;
    text.append(buffer, std::size_t(count));
  }
}

Result<void> replace_unchanged(const fs::path &path, const std::string &before,
                               const std::string &after) {
  const Result<std::string> now = read_file(path);
  if (!now)
    return std::unexpected(now.error());
  if (*now != before)
    return fail(path.string() + " changed while its kernels were optimised; nothing was written",
                "Run this again");
  return write_atomically(path, after);
}

Result<std::chrono::milliseconds> parse_duration(const std::string &text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(end, text.data() + text.size());
  const double factor = unit == "ms"                  ? 1
                        : unit == "s" || unit.empty() ? 1e3
                        : unit == "m"                 ? 60e3
                        : unit == "h"                 ? 3.6e6
                                                      : 0;
  if (error != std::errc() || factor == 0 || !(value * factor >= 1) || value * factor > 1e12)
    return fail("'" + text + "' is not a time", "Write 30s, 500ms or 2m");
  return std::chrono::milliseconds(std::int64_t(value * factor));
}

std::string utc_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char buffer[32];
  std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return buffer;
}

} // namespace warpwright::cli
