// Reads .warpwright.toml with toml++, key by key through one table.
// Thread: any.
#include "analysis/config/project_config.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Path.h>
#include <toml++/toml.h>

#include <array>
#include <charconv>

namespace warpwright::config {
namespace {

std::string at(const std::string &path, const toml::source_region &region) {
  return path + ":" + std::to_string(region.begin.line);
}

class Reader {
public:
  Reader(const std::string &path, ProjectConfig &config) : path_(path), config_(config) {}

  Result<void> read(const toml::table &table) {
    for (const auto &[key, node] : table) {
      const auto known = std::ranges::find(kKeys, key.str(), &Key::name);
      if (known == kKeys.end())
        return fail(at(path_, node.source()) + ": unknown key \"" + std::string(key.str()) + "\"",
                    "keys are " + known_keys());
      if (!(this->*known->read)(node))
        return fail(at(path_, node.source()) + ": \"" + std::string(key.str()) + "\" must be " +
                    std::string(known->expected));
    }
    return {};
  }

private:
  struct Key {
    std::string_view name;
    std::string_view expected;
    bool (Reader::*read)(const toml::node &);
  };
  static const std::array<Key, 10> kKeys;

  static std::string known_keys() {
    std::string result;
    for (const Key &key : kKeys)
      result += (result.empty() ? "" : ", ") + std::string(key.name);
    return result;
  }

  static bool text(const toml::node &node, std::string &target) {
    const std::optional<std::string> value = node.value_exact<std::string>();
    target = value.value_or("");
    return value.has_value() && !value->empty();
  }

  /// Relative to the folder of the configuration.
  bool location(const toml::node &node, std::string &target) const {
    std::string value;
    if (!text(node, value))
      return false;
    llvm::SmallString<128> result(value);
    if (!llvm::sys::path::is_absolute(value)) {
      result = llvm::sys::path::parent_path(path_);
      llvm::sys::path::append(result, value);
    }
    llvm::sys::path::remove_dots(result, /*remove_dot_dot=*/true);
    target = std::string(result);
    return true;
  }

  static bool texts(const toml::node &node, std::vector<std::string> &target) {
    const toml::array *array = node.as_array();
    if (!array)
      return false;
    for (const toml::node &element : *array)
      if (!text(element, target.emplace_back()))
        return false;
    return true;
  }

  bool flags(const toml::node &node) { return texts(node, config_.flags); }
  bool remove_flags(const toml::node &node) { return texts(node, config_.remove_flags); }
  bool disable_rules(const toml::node &node) { return texts(node, config_.disabled_rules); }
  bool compile_commands(const toml::node &node) { return location(node, config_.compile_commands); }
  bool cuda_path(const toml::node &node) { return location(node, config_.cuda_path); }
  /// Not one that starts a command: whoever opens a project has not agreed to run its programs.
  bool runner(const toml::node &node) {
    return text(node, config_.runner_url) && !config_.runner_url.starts_with("stdio:");
  }
  /// Started only when an optimisation of a Python module is asked for, which runs the project's code anyway.
  bool python(const toml::node &node) { return location(node, config_.python); }
  bool budget(const toml::node &node) {
    std::string value;
    config_.budget_ms = text(node, value) ? parse_duration_ms(value) : std::nullopt;
    return config_.budget_ms.has_value();
  }
  /// Not an endpoint: a project's file would say where the user's key is sent.
  bool policy(const toml::node &node) {
    std::string &value = config_.policy;
    return text(node, value) &&
           (value == "search" || value == "builtin" || value.starts_with("builtin:"));
  }
  bool sizes(const toml::node &node) {
    const toml::table *table = node.as_table();
    if (!table)
      return false;
    for (const auto &[name, element] : *table) {
      const std::optional<std::int64_t> value = element.value_exact<std::int64_t>();
      if (!value || *value <= 0)
        return false;
      config_.sizes[std::string(name.str())] = *value;
    }
    return true;
  }

  const std::string &path_;
  ProjectConfig &config_;
};

const std::array<Reader::Key, 10> Reader::kKeys{{
    {"flags", "a list of texts", &Reader::flags},
    {"remove_flags", "a list of texts", &Reader::remove_flags},
    {"compile_commands", "the path of a folder or of compile_commands.json",
     &Reader::compile_commands},
    {"cuda_path", "the path of a CUDA toolkit", &Reader::cuda_path},
    {"runner", "the URL of a runner that is running already (unix:, tls:, amqps:), as a text",
     &Reader::runner},
    {"python", "the path of a Python interpreter", &Reader::python},
    {"budget", "a time such as \"30s\", \"500ms\" or \"2m\"", &Reader::budget},
    {"policy", "search, builtin or builtin:WEIGHTS; an endpoint is the user's to choose",
     &Reader::policy},
    {"disable_rules", "a list of rule names", &Reader::disable_rules},
    {"sizes", "a table of positive whole numbers", &Reader::sizes},
}};

} // namespace

std::optional<int> parse_duration_ms(std::string_view text) {
  int value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  const int scale = unit == "ms" ? 1 : unit == "s" ? 1000 : unit == "m" ? 60'000 : 0;
  if (error != std::errc{} || value <= 0 || scale == 0 || value > 86'400'000 / scale)
    return std::nullopt;
  return value * scale;
}

Result<ProjectConfig> parse_project_config(std::string_view text, const std::string &path) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed)
    return fail(at(path, parsed.error().source()) + ": " +
                std::string(parsed.error().description()));
  ProjectConfig config;
  config.path = path;
  if (Result<void> done = Reader(path, config).read(parsed.table()); !done)
    return std::unexpected(done.error());
  return config;
}

Result<ProjectConfig> load_project_config(llvm::vfs::FileSystem &files, const std::string &file) {
  for (llvm::StringRef folder = llvm::sys::path::parent_path(file); !folder.empty();
       folder = llvm::sys::path::parent_path(folder)) {
    llvm::SmallString<128> candidate(folder);
    llvm::sys::path::append(candidate, ".warpwright.toml");
    if (!files.exists(candidate))
      continue;
    const auto buffer = files.getBufferForFile(candidate);
    if (!buffer)
      return fail("cannot read " + std::string(candidate) + ": " + buffer.getError().message());
    return parse_project_config((*buffer)->getBuffer(), std::string(candidate));
  }
  return ProjectConfig{};
}

} // namespace warpwright::config
