// The reference of .warpwright.toml, docs/use/config.md: its table is that of the keys. A failure
// prints the table. Thread: one.
#include "analysis/config/project_config.h"
#include "support/files.h"

#include <doctest/doctest.h>

namespace {
using namespace warpwright;

std::string table() {
  std::string text = "| key | value | example | meaning | counts |\n|---|---|---|---|---|\n";
  for (const config::ProjectKey &key : config::project_keys())
    text.append("| `").append(key.name).append("` | ").append(key.expected).append(" | `")
        .append(key.example).append("` | ").append(key.meaning).append(" | ").append(key.counts).append(" |\n");
  return text;
}
} // namespace

TEST_CASE("the reference page has the table of the keys") {
  const auto page = read_file(WARPWRIGHT_SOURCE_DIR "/docs/use/config.md");
  REQUIRE(page.has_value());
  CHECK_MESSAGE(page->contains(table()), "docs/use/config.md should have this table:\n" << table());
}

TEST_CASE("the example of each key is a configuration that is understood") {
  for (const config::ProjectKey &key : config::project_keys()) {
    const std::string text = std::string(key.name) + " = " + std::string(key.example) + "\n";
    const auto config = config::parse_project_config(text, "/project/.warpwright.toml");
    CHECK_MESSAGE(config.has_value(), text << (config ? "" : config.error().message));
  }
}
