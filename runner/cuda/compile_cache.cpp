// One file an entry: a line of JSON, then the cubin.
#include "runner/cuda/compile_cache.h"
#include "support/hash.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unistd.h>

namespace warpwright::runner::cuda {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path cache_directory() {
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return fs::path(cache) / "warpwright";
  if (const char *home = std::getenv("HOME"); home && *home)
    return fs::path(home) / ".cache" / "warpwright";
  return {};
}

std::optional<CompiledCode> CompileCache::find(const std::string &key) const {
  std::ifstream file(directory_ / (key + ".cubin"), std::ios::binary);
  std::string line;
  if (directory_.empty() || !file || !std::getline(file, line))
    return std::nullopt;
  std::ostringstream rest;
  rest << file.rdbuf();
  CompiledCode code;
  code.cubin = rest.str();
  const json header = json::parse(line, nullptr, false);
  if (header.is_discarded() || header.value("sha256", "") != sha256_hex(code.cubin))
    return std::nullopt;
  code.lowered_names = header.value("lowered_names", std::vector<std::string>{});
  code.log = header.value("log", "");
  code.compile_ms = header.value("compile_ms", 0.0);
  return code;
}

void CompileCache::store(const std::string &key, const CompiledCode &code) const {
  if (directory_.empty())
    return;
  std::error_code error;
  fs::create_directories(directory_, error);
  const json header = {{"sha256", sha256_hex(code.cubin)},
                       {"lowered_names", code.lowered_names},
                       {"log", code.log},
                       {"compile_ms", code.compile_ms}};
  const fs::path temporary = directory_ / (key + "." + std::to_string(getpid()) + ".tmp");
  std::ofstream file(temporary, std::ios::binary);
  file << header.dump(-1, ' ', false, json::error_handler_t::replace) << '\n' << code.cubin;
  file.close();
  if (file)
    fs::rename(temporary, directory_ / (key + ".cubin"), error);
  else
    fs::remove(temporary, error);
}

} // namespace warpwright::runner::cuda
