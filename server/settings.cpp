// Implementation of the settings, with one reader per member.
#include "server/settings.h"

#include "server/policy_choice.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>

namespace warpwright::server {

namespace {

using Json = nlohmann::json;

/// "30s", "500ms", "2m" or a number of seconds.
std::optional<std::chrono::milliseconds> duration(const Json &value) {
  double number = 0;
  std::string unit = "s";
  if (value.is_number()) {
    number = value.get<double>();
  } else if (value.is_string()) {
    const std::string &text = value.get_ref<const std::string &>();
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc())
      return std::nullopt;
    unit.assign(rest, text.data() + text.size());
  } else {
    return std::nullopt;
  }
  const double scale = unit == "ms" ? 1 : unit == "s" ? 1'000 : unit == "m" ? 60'000 : 0;
  if (!(number * scale >= 1 && number * scale <= 86'400'000))
    return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(number * scale));
}

/// The member "a.b" of an object of objects; null if there is none.
Json at_path(const Json &json, std::string name) {
  std::ranges::replace(name, '.', '/');
  const Json::json_pointer path("/" + name);
  return json.contains(path) ? json.at(path) : Json();
}

std::optional<std::set<std::string>> names(const Json &value) {
  if (!value.is_array())
    return std::nullopt;
  std::set<std::string> result;
  for (const Json &item : value) {
    if (!item.is_string())
      return std::nullopt;
    result.insert(item.get<std::string>());
  }
  return result;
}

} // namespace

std::vector<std::string> update_settings(Settings &settings, const Json &json) {
  std::vector<std::string> problems;
  if (json.is_null() || (json.is_array() && json.empty()))
    return problems;
  if (!json.is_object())
    return {"the setting 'warpwright' must be an object, it is " + json.dump()};
  const auto read = [&](std::string name, const char *expected, auto &&assign) {
    const Json value = at_path(json, name);
    if (!value.is_null() && !assign(value))
      problems.push_back("the setting 'warpwright." + name + "' must be " + expected + ", it is " +
                         value.dump());
  };
  const auto text = [](std::string &member) {
    return [&member](const Json &value) {
      return value.is_string() && (member = value.get<std::string>(), true);
    };
  };
  const auto boolean = [](bool &member) {
    return [&member](const Json &value) {
      return value.is_boolean() && (member = value.get<bool>(), true);
    };
  };
  read("runner", "an URL", text(settings.runner));
  read("python", "the path of a Python interpreter", text(settings.python));
  read("device", "a device name such as \"cuda:0\"", text(settings.device));
  read("budget", "a time such as \"30s\"", [&](const Json &value) {
    const auto budget = duration(value);
    return budget && (settings.budget = *budget, true);
  });
  read("maxVariants", "a number from 1 to 1000", [&](const Json &value) {
    if (!value.is_number_integer() || value.get<std::int64_t>() < 1 ||
        value.get<std::int64_t>() > 1000)
      return false;
    settings.max_variants = value.get<int>();
    return true;
  });
  read("policy", kPolicyForms, [&](const Json &value) {
    if (!value.is_string() || !parse_policy(value.get<std::string>()))
      return false;
    settings.policy = value.get<std::string>();
    return true;
  });
  read("disabledRules", "a list of rule names", [&](const Json &value) {
    const auto rules = names(value);
    return rules && (settings.disabled_rules = *rules, true);
  });
  const std::pair<const char *, bool &> switches[] = {
      {"hover", settings.hover},
      {"inlayHints", settings.inlay_hints},
      {"codeLens.enable", settings.code_lens},
      {"languages.cuda", settings.cuda},
      {"languages.python", settings.python_modules},
      {"languages.cpp", settings.cpp},
      {"syntaxDiagnostics", settings.syntax_diagnostics},
      {"standalone", settings.standalone},
      {"learn", settings.learn}};
  for (const auto &[name, member] : switches)
    read(name, "true or false", boolean(member));
  read("trusted", "true or false", [&](const Json &value) {
    return value.is_boolean() && (settings.trusted = value.get<bool>(), true);
  });
  return problems;
}

} // namespace warpwright::server
