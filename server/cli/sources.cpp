// Implementation of finding and replacing files, and of parsing durations.
#include "server/cli/sources.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 1 << 20; ///< of a header; a longer one is data

/// Returns true for .cu and .cuh files, and for C++ files that define kernels.
bool is_source(const fs::path &path) {
  static const std::set<std::string> kCuda{".cu", ".cuh"};
  static const std::set<std::string> kCpp{".h",   ".hh",  ".hpp", ".hxx", ".inl", ".inc", ".ipp",
                                          ".tpp", ".cpp", ".cc",  ".cxx"};
  const std::string ending = path.extension().string();
  if (kCuda.contains(ending))
    return true;
  std::error_code failed;
  if (!kCpp.contains(ending) || fs::file_size(path, failed) > kMostBytes || failed)
    return false;
  const Result<std::string> text = read_file(path);
  return text && text->contains("__global__");
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
    return fail("no CUDA source in " + directory.string(),
                "Name a directory with .cu or .cuh files, or with C++ files that define kernels");
  std::sort(found.begin(), found.end());
  return found;
}

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

Result<void> replace_unchanged(const fs::path &path, const std::string &before,
                               const std::string &after) {
  const Result<std::string> now = read_file(path);
  if (!now)
    return std::unexpected(now.error());
  if (*now != before)
    return fail(path.string() + " changed while its kernels were optimized; nothing was written",
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

} // namespace warpwright::cli
