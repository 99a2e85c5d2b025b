// JUnit's XML, as CI servers read it: a test case per kernel, per file that could not be analyzed and
// per diagnostic that fails. What is unknown is a skipped test.
#include "server/cli/check/check_result.h"
#include "server/cli/report/svg.h"

namespace warpwright::cli {
namespace {

/// XML 1.0 has no way to write most control characters.
std::string xml(const std::string &text) {
  std::string plain;
  for (const char c : text)
    plain += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return escape_html(plain);
}

struct Cases {
  std::string text;
  std::size_t all = 0, failures = 0, skipped = 0;

  void add(const std::string &suite, const std::string &name, CheckState state, const std::string &message) {
    ++all;
    text += "    <testcase classname=\"" + xml(suite) + "\" name=\"" + xml(name) + "\"";
    if (state == CheckState::Fine) {
      text += message.empty() ? "/>\n" : "><system-out>" + xml(message) + "</system-out></testcase>\n";
      return;
    }
    const bool failed = state == CheckState::Worse;
    (failed ? failures : skipped) += 1;
    const char *tag = failed ? "failure" : "skipped";
    text += std::string("><") + tag + " message=\"" + xml(message) + "\"/></testcase>\n";
  }
};

std::string joined_parts(const CheckedKernel &kernel) {
  std::string text = kernel.label;
  for (const std::string &part : {times_text(kernel), kernel.message, kernel.applied})
    if (!part.empty())
      text += ": " + part;
  return text;
}

} // namespace

std::string check_junit(const CheckResult &result) {
  Cases cases;
  for (const CheckedKernel &kernel : result.kernels)
    cases.add(kernel.path, kernel.name, kernel.state, joined_parts(kernel));
  for (const auto &[path, error] : result.failures)
    cases.add(path, "analysis", CheckState::Unknown, describe(error));
  for (const CheckedDiagnostic &found : result.diagnostics)
    if (found.fails)
      cases.add(found.path, found.rule + ":" + std::to_string(found.line), CheckState::Worse,
                found.message);
  const std::string counts = "tests=\"" + std::to_string(cases.all) + "\" failures=\"" + std::to_string(cases.failures) +
                             "\" errors=\"0\" skipped=\"" + std::to_string(cases.skipped) + "\"";
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites " + counts + ">\n  <testsuite name=\"warpwright check\" " +
         counts + " timestamp=\"" + xml(result.date.substr(0, 19)) + "\">\n" + cases.text + "  </testsuite>\n</testsuites>\n";
}

} // namespace warpwright::cli
