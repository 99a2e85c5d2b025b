#include "runner/deep/launch_folder.h"

#include <cstdlib>
#include <fstream>

namespace warpwright::runner::deep {

namespace fs = std::filesystem;

Result<LaunchFolder> LaunchFolder::make() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "warpwright-deep-XXXXXX").string();
  if (!mkdtemp(name.data()))
    return fail("cannot make a folder like " + name, "Set TMPDIR to a folder that can be written");
  LaunchFolder folder;
  folder.path_ = name;
  return folder;
}

LaunchFolder::~LaunchFolder() {
  std::error_code error;
  if (!path_.empty())
    fs::remove_all(path_, error);
}

std::optional<CompiledCode> FolderCache::find(const std::string &key) {
  std::ifstream file(folder_ / (key + ".code"));
  const auto document = nlohmann::json::parse(file, nullptr, false);
  auto code = compiled_code_from_json(document);
  return code ? std::optional(std::move(*code)) : std::nullopt;
}

void FolderCache::store(const std::string &key, const CompiledCode &code) {
  std::error_code error;
  const fs::path whole = folder_ / (key + ".code"), part = folder_ / (key + ".part");
  std::ofstream(part) << to_json(code).dump(-1, ' ', false,
                                            nlohmann::json::error_handler_t::replace);
  fs::rename(part, whole, error);
}

std::string LaunchFolder::write(const std::string &name, const nlohmann::json &document) const {
  std::ofstream(path_ / name) << document.dump();
  return file(name);
}

} // namespace warpwright::runner::deep
