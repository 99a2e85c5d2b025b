#include "server/docs_page.h"

#include <filesystem>

namespace warpwright::server {

std::string find_docs_page(const std::string &name) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char *place : {"../../share/warpwright/docs", // lib/warpwright of a package
                            "../share/doc/warpwright", "../../../docs"})
    if (const auto page = (program / place / name).lexically_normal();
        std::filesystem::exists(page, error))
      return page.string();
  return "";
}

} // namespace warpwright::server
