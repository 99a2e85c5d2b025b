// check() helpers of the rule tests: a snippet with the diagnostic marked as [[...]], and the text after its fix.
// Thread: one.
#pragma once

#include "tests/analysis/kernel_source.h"

#include <algorithm>

namespace warpwright::analysis::test {

struct Marked {
  std::string text;
  std::vector<Range> ranges;
};

inline Marked unmarked(const std::string &source) {
  Marked result;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.compare(i, 2, "[[") == 0) {
      result.ranges.push_back({result.text.size(), 0});
      ++i;
    } else if (source.compare(i, 2, "]]") == 0 && source.compare(i, 3, "]]]") != 0 &&
               !result.ranges.empty() && result.ranges.back().end == 0) {
      result.ranges.back().end = result.text.size();
      ++i;
    } else {
      result.text += source[i];
    }
  }
  return result;
}

inline std::vector<Diagnostic> diagnostics_of(const std::string &text,
                                              const std::string &rule = {}) {
  auto unit = parsed(text);
  auto diagnostics = run_rules(*unit, facts_of(*unit));
  std::erase_if(diagnostics, [&](const Diagnostic &d) { return !rule.empty() && d.rule != rule; });
  return diagnostics;
}

/// The rule reports exactly the marked ranges, with that severity.
inline std::vector<Diagnostic> check_reports(const std::string &rule, const std::string &source,
                                             Severity severity) {
  const Marked marked = unmarked(source);
  CAPTURE(marked.text);
  auto diagnostics = diagnostics_of(marked.text, rule);
  std::vector<std::string> found, expected;
  for (const Diagnostic &diagnostic : diagnostics) {
    found.push_back(marked.text.substr(diagnostic.range.begin, diagnostic.range.size()));
    CHECK(diagnostic.severity == severity);
  }
  for (const Range &range : marked.ranges)
    expected.push_back(marked.text.substr(range.begin, range.size()));
  const auto joined = [](const std::vector<std::string> &parts) {
    std::string text;
    for (const std::string &part : parts)
      text += part + "\n";
    return text;
  };
  CHECK(joined(found) == joined(expected));
  return diagnostics;
}

/// The rule reports the marked range; its first fix gives `fixed`, which parses no worse and is quiet.
inline void check_fix(const std::string &rule, const std::string &source, const std::string &fixed,
                      Severity severity) {
  const auto diagnostics = check_reports(rule, source, severity);
  REQUIRE_FALSE(diagnostics.empty());
  REQUIRE_FALSE(diagnostics[0].fixes.empty());
  const std::string text = unmarked(source).text;
  const auto after = apply_edits(text, diagnostics[0].fixes[0].edits);
  REQUIRE(after.has_value());
  CHECK(*after == fixed);
  CHECK(parsed(*after)->syntax_diagnostics().size() == parsed(text)->syntax_diagnostics().size());
  CHECK(diagnostics_of(*after, rule).empty());
}

inline void check_quiet(const std::string &rule, const std::string &source) {
  CAPTURE(source);
  std::string messages;
  for (const Diagnostic &diagnostic : diagnostics_of(source, rule))
    messages += diagnostic.rule + ": " + diagnostic.message + "\n";
  CHECK(messages == "");
}

} // namespace warpwright::analysis::test
