// JSON of verify options, with one list of members for both directions.
#include "support/model/verify_options.h"

#include <algorithm>

namespace warpwright::model {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxMilliseconds = 3'600'000;
constexpr std::size_t kMaxNameBytes = 200;
constexpr std::string_view kGraph = "+graph";

bool is_baseline(std::string_view name) {
  if (name.ends_with(kGraph))
    name.remove_suffix(kGraph.size());
  return name == "eager" || std::ranges::find(kCompiledVariants, name, &CompiledVariant::name) !=
                                std::end(kCompiledVariants);
}

std::string wanted(const std::string &key, const std::string &what) {
  return "options." + key + " must be " + what;
}

Result<void> read(const json &value, const std::string &key, bool &member) {
  if (!value.is_boolean())
    return fail(wanted(key, "true or false") + ", not " + value.dump());
  member = value;
  return {};
}
Result<void> read(const json &value, const std::string &key, std::string &member) {
  if (!value.is_string() || value.get_ref<const std::string &>().size() > kMaxNameBytes)
    return fail(wanted(key, "a text of at most " + std::to_string(kMaxNameBytes) + " bytes"));
  member = value;
  return {};
}
Result<void> read(const json &value, const std::string &key, std::chrono::milliseconds &member) {
  if (!value.is_number_integer() || value.get<std::int64_t>() < 1 ||
      value.get<std::int64_t>() > kMaxMilliseconds)
    return fail(wanted(key, "milliseconds from 1 to " + std::to_string(kMaxMilliseconds)) +
                ", not " + value.dump());
  member = std::chrono::milliseconds(value.get<std::int64_t>());
  return {};
}
Result<void> read(const json &value, const std::string &key, std::uint64_t &member) {
  if (!value.is_number_unsigned())
    return fail(wanted(key, "an integer from 0 up") + ", not " + value.dump());
  member = value;
  return {};
}
Result<void> read(const json &value, const std::string &key, std::optional<double> &member) {
  if (!value.is_number() || value.get<double>() <= 0)
    return fail(wanted(key, "a number above 0") + ", not " + value.dump());
  member = value.get<double>();
  return {};
}

Result<void> read(const json &value, const std::string &key, std::vector<std::string> &member) {
  const auto is_known = [](const json &name) {
    return name.is_string() && is_baseline(name.get_ref<const std::string &>());
  };
  if (!value.is_array() || !std::ranges::all_of(value, is_known))
    return fail(wanted(key, "a list of eager, torch.compile or torch.compile "
                            "max-autotune-no-cudagraphs, also with +graph") +
                ", not " + value.dump());
  member = value.get<std::vector<std::string>>();
  return {};
}

template <class Options, class Visit>
void each_member(Options &options, Visit visit) {
  visit("device", options.device);
  visit("job", options.job);
  visit("timeout_ms", options.timeout);
  visit("measure_budget_ms", options.measure_budget);
  visit("measure", options.measure);
  visit("hidden_sizes", options.hidden_sizes);
  visit("confirm_large", options.confirm_large);
  visit("thorough", options.thorough);
  visit("deep", options.deep);
  visit("profile", options.profile);
  visit("host_code", options.host_code);
  visit("baselines", options.baselines);
  visit("seed", options.seed);
  visit("best_known_speedup", options.best_known_speedup);
  visit("confirmed_speedup", options.confirmed_speedup);
}

struct OptionsWriter {
  json &document;
  template <class T>
  void operator()(const char *key, const T &member) const {
    document[key] = member;
  }
  void operator()(const char *key, const std::string &member) const {
    if (!member.empty())
      document[key] = member;
  }
  void operator()(const char *key, const std::vector<std::string> &member) const {
    if (!member.empty())
      document[key] = member;
  }
  void operator()(const char *key, const std::chrono::milliseconds &member) const {
    document[key] = member.count();
  }
  void operator()(const char *key, const std::optional<double> &member) const {
    if (member)
      document[key] = *member;
  }
};

} // namespace

json to_json(const VerifyOptions &options) {
  json document = json::object();
  each_member(options, OptionsWriter{document});
  return document;
}

Result<VerifyOptions> verify_options_from_json(const json &document) {
  if (!document.is_object())
    return fail("options is " + document.dump(), "It must be an object");
  VerifyOptions options;
  std::size_t known = 0;
  std::string names;
  Result<void> outcome;
  each_member(options, [&](const char *key, auto &member) {
    names += (names.empty() ? "" : ", ") + std::string(key);
    const auto found = document.find(key);
    if (found == document.end())
      return;
    ++known;
    if (auto done = read(*found, key, member); !done && outcome)
      outcome = done;
  });
  if (!outcome)
    return std::unexpected(outcome.error());
  if (known != document.size())
    return fail("options has members that are not known: " + document.dump(), "Known are " + names);
  return options;
}

} // namespace warpwright::model
