// SARIF 2.1.0 (OASIS). Worse kernels and new diagnostics are results; what is unknown is no finding
// in the code, and becomes a notification of the tool.
#include "server/cli/check/check_result.h"
#include "support/hash.h"

#include <map>

namespace warpwright::cli {
namespace {

using nlohmann::json;

/// A path as a relative URI: bytes outside of the unreserved characters of RFC 3986 in percent form.
std::string to_uri(const std::string &path) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string uri;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || std::string_view("-._~/").contains(c))
      uri += c;
    else
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return uri;
}

json location(const std::string &path, std::size_t line, std::size_t column = 0) {
  json region = {{"startLine", std::max<std::size_t>(line, 1)}};
  if (column > 0)
    region["startColumn"] = column;
  return {{"physicalLocation",
           {{"artifactLocation", {{"uri", to_uri(path)}, {"uriBaseId", "%SRCROOT%"}}}, {"region", region}}}};
}

std::string level_of(const CheckedDiagnostic &found) {
  const bool has_level = found.severity == "error" || found.severity == "warning";
  return found.fails ? "error" : has_level ? found.severity : "note";
}

/// "slower", "wrong-result"
std::string rule_of(const CheckedKernel &kernel) {
  std::string rule;
  for (const char c : kernel.label)
    rule += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return rule;
}

std::string text_of(const CheckedKernel &kernel, const std::string &device) {
  std::string text = kernel.name + ": ";
  const std::string times = times_text(kernel);
  text += times.empty() ? kernel.message : times + " on " + device;
  return kernel.applied.empty() ? text : text + "; " + kernel.applied;
}

class Rules {
public:
  void add(const std::string &rule, const std::string &description, bool has_page) {
    json &entry = rules_[rule];
    entry = {{"id", rule}, {"shortDescription", {{"text", description}}}};
    if (has_page)
      entry["help"] = {{"text", "docs/rules/" + rule + ".md explains the rule"}};
  }
  json list() const {
    json list = json::array();
    for (const auto &[rule, entry] : rules_)
      list.push_back(entry);
    return list;
  }

private:
  std::map<std::string, json> rules_;
};

json kernel_result(const CheckedKernel &kernel, const std::string &device) {
  const std::string rule = rule_of(kernel);
  return {{"ruleId", rule},
          {"level", "error"},
          {"message", {{"text", text_of(kernel, device)}}},
          {"locations", json::array({location(kernel.path, kernel.line)})},
          {"partialFingerprints", {{"kernel/v1", kernel.path + ":" + kernel.name + ":" + rule}}}};
}

json diagnostic_result(const CheckedDiagnostic &found) {
  const std::string print = found.path + ":" + found.rule + ":" + sha256_hex(found.message).substr(0, 16);
  return {{"ruleId", found.rule},
          {"level", level_of(found)},
          {"message", {{"text", found.message}}},
          {"locations", json::array({location(found.path, found.line, found.column)})},
          {"partialFingerprints", {{"diagnostic/v1", print}}}};
}

json notification(const std::string &text, json location) {
  return {{"level", "warning"}, {"message", {{"text", text}}}, {"locations", json::array({std::move(location)})}};
}

} // namespace

json check_sarif(const CheckResult &result) {
  Rules rules;
  json results = json::array(), notifications = json::array();
  for (const CheckedKernel &kernel : result.kernels) {
    if (kernel.state == CheckState::Worse) {
      rules.add(rule_of(kernel), "A changed kernel or module is worse than at the base: " + kernel.label, false);
      results.push_back(kernel_result(kernel, result.device));
    } else if (kernel.state == CheckState::Unknown) {
      notifications.push_back(notification(kernel.name + ": " + kernel.message, location(kernel.path, kernel.line)));
    }
  }
  for (const auto &[path, error] : result.failures)
    notifications.push_back(notification(path + ": " + describe(error), location(path, 1)));
  for (const CheckedDiagnostic &found : result.diagnostics) {
    rules.add(found.rule, "Diagnostic of warpwright: " + found.rule, found.rule != "syntax");
    results.push_back(diagnostic_result(found));
  }
  json invocation = {{"executionSuccessful", true}};
  if (!notifications.empty())
    invocation["toolExecutionNotifications"] = notifications;
  const json driver = {{"name", "warpwright"}, {"version", result.version}, {"rules", rules.list()}};
  const json root = {{"description", {{"text", "The root of the repository"}}}};
  const json run = {{"tool", {{"driver", driver}}},
                    {"invocations", json::array({invocation})},
                    {"originalUriBaseIds", {{"%SRCROOT%", root}}},
                    {"results", results}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", json::array({run})}};
}

} // namespace warpwright::cli
