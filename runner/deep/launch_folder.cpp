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

std::string LaunchFolder::write(const std::string &name, const nlohmann::json &document) const {
  std::ofstream(path_ / name) << document.dump();
  return file(name);
}

} // namespace warpwright::runner::deep
