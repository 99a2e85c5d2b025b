// Implementation of the folders of captures.
#include "server/cli/capture/store.h"

#include "support/words.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;

constexpr fs::perms kPrivate = fs::perms::owner_all;

/// "2026-11-26T08-50-23-program", and with "-2" and so on if the name is taken.
Result<fs::path> make_new(const fs::path &captures, const std::string &program) {
  std::string date = utc_now();
  std::ranges::replace(date, ':', '-');
  date.resize(std::min(date.find('Z'), date.size()));
  const std::string name = date + "-" + fs::path(program).filename().string();
  constexpr int kMostOfOneName = 1000;
  for (int i = 1; i < kMostOfOneName; ++i) {
    const fs::path folder = captures / (i == 1 ? name : name + "-" + std::to_string(i));
    if (::mkdir(folder.c_str(), 0700) == 0)
      return folder;
    if (errno != EEXIST)
      break;
  }
  return fail("cannot make a folder in " + captures.string() + ": " + std::strerror(errno),
              "Choose a folder with --out");
}

std::uint64_t size_of(const fs::path &folder) {
  std::uint64_t size_bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (std::error_code unknown; entry->is_regular_file(unknown))
      if (const auto size = entry->file_size(unknown); !unknown)
        size_bytes += size;
  return size_bytes;
}

} // namespace

Result<void> make_private_folder(const fs::path &folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (error)
    return fail("cannot make " + folder.parent_path().string() + ": " + error.message());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return fail("cannot make " + folder.string() + ": " + std::strerror(errno));
  fs::permissions(folder, kPrivate, error);
  if (error)
    return fail("cannot make " + folder.string() + " private: " + error.message(),
                "Choose a folder of your own with --out");
  return {};
}

Result<fs::path> make_capture(const std::string &wanted, const std::string &program) {
  if (wanted.empty()) {
    const fs::path captures = TRY(capture::captures_folder());
    TRY(make_private_folder(captures));
    return make_new(captures, program);
  }
  const fs::path folder = fs::absolute(wanted).lexically_normal();
  std::error_code error;
  if (fs::exists(folder, error) &&
      (!fs::is_directory(folder, error) || !fs::is_empty(folder, error)))
    return fail(folder.string() + " exists and is not an empty folder",
                "Name a new folder with --out");
  TRY(make_private_folder(folder.filename().empty() ? folder.parent_path() : folder));
  return folder;
}

std::vector<StoredCapture> list_captures(const fs::path &folder) {
  std::vector<StoredCapture> captures;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error)) {
    auto run = capture::read_run(entry.path());
    if (!run)
      continue;
    StoredCapture stored{.name = entry.path().filename(),
                         .run = *std::move(run),
                         .size_bytes = size_of(entry.path())};
    for (const fs::path &process : capture::process_folders(entry.path())) {
      ++stored.processes;
      if (const auto read = capture::read_process(process))
        stored.launches += read->process.totals.launches;
    }
    captures.push_back(std::move(stored));
  }
  std::ranges::sort(captures, {},
                    [](const StoredCapture &one) { return std::pair(one.run.started, one.name); });
  return captures;
}

Result<void> delete_capture(const fs::path &folder, const std::string &name) {
  const fs::path path = folder / name;
  const bool is_plain = name == fs::path(name).filename() && name != "." && name != "..";
  if (std::error_code error; !is_plain || name.empty() || fs::is_symlink(path, error) ||
                             !fs::exists(path / capture::kRunFile, error))
    return fail("there is no capture '" + name + "' in " + folder.string(),
                "See: warpwright capture --list");
  std::error_code error;
  fs::remove_all(path, error);
  if (error)
    return fail("cannot delete " + path.string() + ": " + error.message());
  return {};
}

} // namespace warpwright::cli
