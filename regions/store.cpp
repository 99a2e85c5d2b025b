#include "regions/store.h"

#include "support/files.h"
#include "support/hash.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace warpwright::regions {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kKeyLength = 64; // SHA-256 in hex digits
constexpr std::uintmax_t kMostReportBytes = 64 << 10; // editors read reports while a user waits

const char *folder_of(Store::Kind kind) {
  switch (kind) {
  case Store::Kind::Plan:
    return "plans";
  case Store::Kind::Job:
    return "jobs";
  case Store::Kind::Binding:
    return "graphs";
  case Store::Kind::Quarantine:
    return "quarantine";
  case Store::Kind::Report:
    return "reports";
  }
  return "";
}

bool is_key(const std::string &key) {
  return key.size() == kKeyLength && key.find_first_not_of("0123456789abcdef") == std::string::npos;
}

} // namespace

Store::Store(const fs::path &root, const json &environment)
    : folder_(root / sha256_hex(environment.dump()).substr(0, 16)), environment_(environment) {}

Store Store::at(fs::path folder) {
  Store store;
  store.folder_ = std::move(folder);
  return store;
}

fs::path Store::default_root() {
  const auto value = [](const char *name) {
    const char *text = std::getenv(name);
    return fs::path(text ? text : "");
  };
  if (const fs::path chosen = value("WARPWRIGHT_STORE"); !chosen.empty())
    return chosen;
  const fs::path cache = value("XDG_CACHE_HOME"), home = value("HOME");
  if (cache.empty() && home.empty())
    return {};
  return (cache.empty() ? home / ".cache" : cache) / "warpwright" / "store";
}

fs::path Store::path(Kind kind, const std::string &key) const { return folder_ / folder_of(kind) / (key + ".json"); }

std::optional<json> Store::read(Kind kind, const std::string &key) const {
  std::error_code error;
  if (kind == Kind::Report && (fs::file_size(path(kind, key), error) > kMostReportBytes || error))
    return std::nullopt;
  std::ifstream file(path(kind, key));
  json document = json::parse(file, nullptr, false);
  if (!document.is_object() || document.value("format", 0) != kFormat)
    return std::nullopt;
  return document;
}

Result<void> Store::write(Kind kind, const std::string &key, json document) const {
  if (!is_key(key))
    return fail("'" + key + "' is not the key of a record");
  std::error_code error;
  fs::create_directories(path(kind, key).parent_path(), error);
  if (error)
    return fail("cannot make " + path(kind, key).parent_path().string() + ": " + error.message(),
                "Name a folder that can be written: WARPWRIGHT_STORE");
  if (!environment_.is_null() && !fs::exists(folder_ / "environment.json"))
    if (auto written = write_atomically(folder_ / "environment.json", environment_.dump(1)); !written)
      return written;
  document["format"] = kFormat;
  return write_atomically(path(kind, key), document.dump(1));
}

void Store::remove(Kind kind, const std::string &key) const {
  std::error_code ignored;
  if (is_key(key))
    fs::remove(path(kind, key), ignored);
}

std::vector<std::string> Store::keys(Kind kind) const {
  std::vector<std::string> keys;
  std::error_code none;
  for (const auto &entry : fs::directory_iterator(folder_ / folder_of(kind), none))
    if (entry.path().extension() == ".json" && is_key(entry.path().stem()))
      keys.push_back(entry.path().stem());
  std::ranges::sort(keys);
  return keys;
}

} // namespace warpwright::regions
