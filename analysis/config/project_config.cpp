// Reader of .warpwright.toml (toml++), with one table of keys.
// Thread: any.
#include "analysis/config/project_config.h"

#include "analysis/config/flags.h"
#include "analysis/config/makefile.h"
#include "support/hash.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Path.h>
#include <toml++/toml.h>

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <unistd.h>

namespace warpwright::config {
namespace {

/// Size limit; a file that a person wrote is smaller.
constexpr std::uint64_t kMostConfigBytes = 1 << 20;

std::string at(const std::string &path, const toml::source_region &region) {
  return path + ":" + std::to_string(region.begin.line);
}

/// An ASCII literal, so that no character of a project's file can disturb the approval prompt.
std::string shown(const std::string &value) {
  return nlohmann::json(value).dump(-1, ' ', /*ensure_ascii=*/true,
                                    nlohmann::json::error_handler_t::replace);
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
  struct Key : ProjectKey {
    bool (Reader::*read)(const toml::node &);
  };
  static const std::array<Key, 12> kKeys;
  friend std::vector<ProjectKey> config::project_keys();

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

  /// Reads a path. Relative paths start at the folder of the configuration.
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

  /// Adds a request that needs the user's approval.
  void request(const char *key, const std::string &value, std::string effect) {
    config_.file.requests.push_back({key, shown(value), std::move(effect)});
  }

  bool flags(const toml::node &node) {
    std::vector<std::string> written;
    if (!texts(node, written))
      return false;
    const std::string folder = llvm::sys::path::parent_path(path_).str();
    ProjectFlags known = project_flags(written, folder);
    config_.flags = std::move(known.flags);
    config_.flags_inside = std::move(known.inside);
    config_.code_generation = std::move(known.code_generation);
    for (const std::string &flag : known.outside)
      request("flags", flag, "reads headers outside of " + folder);
    for (const std::string &flag : known.dropped)
      config_.problems.push_back({at(path_, node.source()) + ": the flag " + shown(flag) +
                                      " is left out: it does not change what a file declares",
                                  "Remove it from \"flags\""});
    return true;
  }
  bool remove_flags(const toml::node &node) { return texts(node, config_.remove_flags); }
  bool disable_rules(const toml::node &node) { return texts(node, config_.disabled_rules); }
  bool compile_commands(const toml::node &node) {
    const bool read = location(node, config_.compile_commands);
    request("compile_commands", config_.compile_commands, "takes compile flags from there");
    return read;
  }
  bool cuda_path(const toml::node &node) {
    const bool read = location(node, config_.cuda_path);
    request("cuda_path", config_.cuda_path, "reads CUDA's headers there");
    return read;
  }
  /// Rejects commands and credentials: opening a project is no consent to either.
  bool runner(const toml::node &node) {
    const bool read =
        text(node, config_.runner_url) && consent::may_name_runner(config_.runner_url);
    request("runner", config_.runner_url,
            "sends kernels and modules of this project to " +
                consent::runner_place(config_.runner_url) + ", when you optimize one");
    return read;
  }
  bool python(const toml::node &node) {
    const bool read = location(node, config_.python);
    request("python", config_.python, "starts this program, when you optimize a module");
    return read;
  }
  bool budget(const toml::node &node) {
    std::string value;
    config_.budget_ms = text(node, value) ? parse_duration_ms(value) : std::nullopt;
    return config_.budget_ms.has_value();
  }
  /// Rejects endpoints: otherwise the project's file would choose where the user's key is sent.
  bool policy(const toml::node &node) {
    std::string &value = config_.policy;
    const bool read = text(node, value) &&
                      (value == "ranked" || value == "search" || value == "builtin" || value.starts_with("builtin:"));
    request("policy", value,
            value.contains(':') ? "reads the weights in this file, to propose variants"
                                : "chooses what proposes variants");
    return read;
  }
  bool learn(const toml::node &node) {
    const std::optional<bool> value = node.value_exact<bool>();
    config_.learn = value.value_or(true);
    return value.has_value();
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

  bool run(const toml::node &node) {
    std::string command;
    if (!text(node, command))
      return false;
    config_.run_arguments = arguments_of(command);
    return true;
  }

  const std::string &path_;
  ProjectConfig &config_;
};

constexpr const char *kAtOnce = "at once", *kAfterApproval = "after approval";

const std::array<Reader::Key, 12> Reader::kKeys{{
    {{"flags", "a list of texts", R"(["-DN=3"])",
      "Compile flags for every file, after those of compile_commands.json or the makefile",
      "flags that name a path outside of the project's folder after approval, the rest at once"},
     &Reader::flags},
    {{"remove_flags", "a list of texts", R"(["-fpermissive"])", "Compile flags to drop", kAtOnce},
     &Reader::remove_flags},
    {{"compile_commands", "the path of a folder or of compile_commands.json", R"("out")",
      "Where to read compile flags", kAfterApproval},
     &Reader::compile_commands},
    {{"cuda_path", "the path of a CUDA toolkit", R"("/opt/cuda")", "Where to read CUDA's headers",
      kAfterApproval},
     &Reader::cuda_path},
    {{"runner", consent::kProjectRunnerForms, R"("ssh://gpu-box")",
      "Sends kernels and modules to that runner", kAfterApproval},
     &Reader::runner},
    {{"python", "the path of a Python interpreter", R"(".venv/bin/python")",
      "Starts that program, an interpreter with torch, for a runner on this machine", kAfterApproval},
     &Reader::python},
    {{"budget", "a time such as \"30s\", \"500ms\" or \"2m\"", R"("30s")",
      "Wall time of one optimization", kAtOnce},
     &Reader::budget},
    {{"policy", "ranked, search, builtin or builtin:WEIGHTS; an endpoint is the user's to choose",
      R"("builtin")",
      "Who proposes variants; may name a file of weights", kAfterApproval},
     &Reader::policy},
    {{"learn", "true or false", "false",
      "With false, the project's own verdicts do not change the order of variants", kAtOnce},
     &Reader::learn},
    {{"disable_rules", "a list of rule names", R"(["bank-conflict"])",
      "[Rules](rules.md) to turn off", kAtOnce},
     &Reader::disable_rules},
    {{"sizes", "a table of positive whole numbers", "{ n = 1048576 }",
      "The value of each size that the source does not give", kAtOnce},
     &Reader::sizes},
    {{"run", "the command line with which the program is run", R"("./main 1000 20")",
      "Is read for sizes, and never started; else the target `run` of the nearest makefile", kAtOnce},
     &Reader::run},
}};

} // namespace

std::vector<ProjectKey> project_keys() { return {Reader::kKeys.begin(), Reader::kKeys.end()}; }

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
  config.file = {.path = path, .identity = path, .content_hash = sha256_hex(text)};
  if (Result<void> done = Reader(path, config).read(parsed.table()); !done)
    return std::unexpected(done.error());
  return config;
}

namespace {

/// Why this file must not be approved, whatever its content; empty: it may be approved.
std::string why_unapprovable(const llvm::vfs::Status &status) {
  if (status.getUser() != 0 && status.getUser() != ::geteuid())
    return "it belongs to another user";
  if ((status.getPermissions() & llvm::sys::fs::others_write) != 0)
    return "every user of this machine may write it";
  return {};
}

/// The real path of the folder, and the file's name. A link to the file counts as another file.
std::string identity_of(llvm::vfs::FileSystem &files, llvm::StringRef path) {
  llvm::SmallString<128> real;
  if (files.getRealPath(llvm::sys::path::parent_path(path), real))
    return path.str();
  llvm::sys::path::append(real, llvm::sys::path::filename(path));
  return std::string(real);
}

void withhold(ProjectConfig &config) {
  config.flags = config.flags_inside;
  for (std::string *value : {&config.compile_commands, &config.cuda_path, &config.runner_url,
                             &config.python, &config.policy})
    value->clear();
}

Result<ProjectConfig> load(llvm::vfs::FileSystem &files, const std::string &path,
                           const Consent &allowed) {
  const auto status = files.status(path);
  if (status && (!status->isRegularFile() || status->getSize() > kMostConfigBytes))
    return fail(path + " is no regular file of at most 1 MiB, so it is not read", "Remove it");
  const auto buffer = files.getBufferForFile(path);
  if (!status || !buffer)
    return fail("cannot read " + path + ": " +
                (status ? buffer.getError() : status.getError()).message());
  Result<ProjectConfig> config = parse_project_config((*buffer)->getBuffer(), path);
  if (!config || config->file.requests.empty())
    return config;
  consent::ProjectFile &file = config->file;
  file.identity = identity_of(files, path);
  file.unapprovable = why_unapprovable(*status);
  if (file.unapprovable.empty()) {
    const Result<bool> approved = allowed.approves(file.identity, file.content_hash);
    file.approved = approved.value_or(false);
    if (!approved)
      config->problems.push_back(approved.error());
  }
  if (!file.approved)
    withhold(*config);
  if (config->runner_url.empty())
    return config;
  if (Result<std::string> own = allowed.own_runner(config->runner_url))
    config->runner_url = std::move(*own);
  else
    config->runner_error = own.error();
  return config;
}

} // namespace

Consent user_consent() {
  return {.approves = [store = consent::ApprovalStore()](const std::string &file,
                                                         const std::string &hash) -> Result<bool> {
            const Result<consent::Approved> approved = store.read();
            if (!approved)
              return std::unexpected(approved.error());
            return approved->approves(file, hash);
          },
          .own_runner = [path = consent::known_runners_path()](
                            const std::string &url) { return consent::own_runner_url(url, path); }};
}

Result<ProjectConfig> load_project_config(llvm::vfs::FileSystem &files, const std::string &file,
                                          const Consent &allowed) {
  for (llvm::StringRef folder = llvm::sys::path::parent_path(file); !folder.empty();
       folder = llvm::sys::path::parent_path(folder)) {
    llvm::SmallString<128> candidate(folder);
    llvm::sys::path::append(candidate, ".warpwright.toml");
    if (files.exists(candidate))
      return load(files, std::string(candidate), allowed);
  }
  return ProjectConfig{};
}

} // namespace warpwright::config
