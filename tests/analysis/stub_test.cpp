// The built-in declarations: what users commonly write parses against them without one error.
// Thread: one.
#include "analysis/parsed_unit.h"
#include "analysis/stub/stub_headers.h"

#include <clang/Basic/SourceManager.h>
#include <doctest/doctest.h>

namespace {

using namespace warpwright;
using namespace warpwright::analysis;

/// Parses without any header being skipped, so that nothing is held back; returns what Clang said.
std::string complaints(const std::string &text, const ParseSettings &settings = {}) {
  auto unit = parse_stub({"/test/file.cu", text}, settings,
                         llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>());
  REQUIRE_MESSAGE(unit.has_value(), describe(unit.error()));
  std::string result;
  for (const Diagnostic &diagnostic : (*unit)->syntax_diagnostics())
    result += std::to_string(diagnostic.line) + ": " + diagnostic.message + "\n";
  return result;
}

} // namespace

TEST_CASE("every group of built-in declarations parses by itself, in every standard") {
  for (const char *standard : {"-std=c++14", "-std=c++17", "-std=c++20", "-std=c++23"}) {
    std::string mentions = "//";
    for (const StubHeader &header : stub_headers())
      if (!header.mentions.empty())
        mentions += " " + std::string(header.mentions[0]);
    CAPTURE(standard);
    CHECK(complaints(mentions + "\nint x;\n", {.flags = {standard}}) == "");
  }
}

TEST_CASE("a real type error is reported when no header was skipped") {
  CHECK(complaints("__global__ void k(float *x) { x[0] = undeclared; }").contains("undeclared"));
}

TEST_CASE("the precompiled declarations serve files whose flags say what compile databases say") {
  const auto uses_precompiled = [](std::vector<std::string> flags) {
    auto unit = parse_stub({"/test/file.cu", "int x;"}, {.flags = std::move(flags)},
                           llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>());
    REQUIRE_MESSAGE(unit.has_value(), describe(unit.error()));
    return (*unit)->sources().loaded_sloc_entry_size() > 0;
  };
  CHECK(uses_precompiled({}));
  CHECK(uses_precompiled({"-x", "cuda", "-isystem", "/include", "-DA=1", "-std=c++17"}));
  CHECK_FALSE(uses_precompiled({"-x", "c++"}));
  CHECK_FALSE(uses_precompiled({"-std=c++20"}));
}
