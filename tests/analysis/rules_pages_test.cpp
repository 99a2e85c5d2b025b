// The pages of the rules, docs/rules/NAME.md: each rule has one, its bad code is reported, and the
// fix makes it the good code. Thread: one.
#include "analysis/rules/rule.h"
#include "support/files.h"
#include "tests/analysis/rules_support.h"

namespace {
using namespace warpwright;
using namespace warpwright::analysis;
using namespace warpwright::analysis::test;

/// The text of the block of CUDA code below a heading, with its last line end.
std::string code_below(const std::string &page, const std::string &heading) {
  const std::string fence = "```cuda\n";
  const std::size_t at = page.find("\n## " + heading + "\n");
  const std::size_t begin = at == std::string::npos ? at : page.find(fence, at);
  if (begin == std::string::npos)
    return {};
  return page.substr(begin + fence.size(), page.find("```\n", begin + fence.size()) - begin - fence.size());
}
} // namespace

TEST_CASE("the bad code of each rule's page is reported, and its fix gives the good code") {
  for (const Rule &rule : rules()) {
    const std::string name(rule.name);
    CAPTURE(name);
    const auto page = read_file(WARPWRIGHT_SOURCE_DIR "/docs/rules/" + name + ".md");
    REQUIRE(page.has_value());
    CHECK(page->contains("\n## Measured difference\n"));
    const std::string bad = code_below(*page, "Bad"), good = code_below(*page, "Good");
    const auto found = diagnostics_of(bad, name);
    REQUIRE(found.size() == 1);
    REQUIRE_FALSE(found[0].fixes.empty());
    const auto fixed = apply_edits(bad, found[0].fixes[0].edits);
    REQUIRE(fixed.has_value());
    CHECK(*fixed == good);
    CHECK(diagnostics_of(good, name).empty());
  }
}
