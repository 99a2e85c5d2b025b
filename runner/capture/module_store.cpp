// Implementation of ModuleStore.
#include "runner/capture/module_store.h"

#include "runner/capture/files/capture_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>

namespace warpwright::capture {
namespace {

/// FNV-1a over words of eight bytes, and the size: names files of one process, and keeps out nobody
/// who would forge a cubin.
std::string name_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < bytes.size(); i += sizeof hash) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
    hash = (hash ^ word) * 0x100000001b3;
    hash ^= hash >> 29;
  }
  char text[64];
  std::snprintf(text, sizeof text, "%016llx-%zx.cubin", static_cast<unsigned long long>(hash),
                bytes.size());
  return text;
}

} // namespace

bool ModuleStore::take(std::string_view cubin) {
  std::string name = name_of(cubin);
  const std::lock_guard lock(mutex_);
  if (names_.contains(name))
    return true;
  if (cubin.size() > limits_.one_bytes || kept_bytes_ + cubin.size() > limits_.all_bytes)
    return false;
  kept_bytes_ += cubin.size();
  new_.emplace_back(name, cubin);
  names_.insert(std::move(name));
  return true;
}

Result<void> ModuleStore::write(const std::filesystem::path &folder) {
  std::vector<std::pair<std::string, std::string>> modules;
  {
    const std::lock_guard lock(mutex_);
    modules.swap(new_);
  }
  if (!modules.empty() && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return fail("cannot make " + folder.string() + ": " + std::strerror(errno));
  for (const auto &[name, bytes] : modules)
    TRY(write_private(folder / name, bytes));
  return {};
}

} // namespace warpwright::capture
