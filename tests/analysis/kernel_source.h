// Snippets in memory for tests of facts and rules: parse, and markers.
//
// A snippet may mark a range as [[...]]; C++ attributes are not needed in them. Thread: one.
#pragma once

#include "analysis/analyze.h"

#include <doctest/doctest.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <memory>
#include <string>
#include <vector>

namespace warpwright::analysis::test {

inline std::unique_ptr<ParsedUnit> parsed(std::string text, const ParseSettings &settings = {}) {
  auto unit = parse_stub({"/test/file.cu", std::move(text)}, settings,
                         llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>());
  REQUIRE_MESSAGE(unit.has_value(), describe(unit.error()));
  return std::move(*unit);
}

/// Facts of the only kernel of a text.
inline Kernel only_kernel(const std::string &text) {
  auto unit = parsed(text);
  const auto kernels = unit->kernels();
  REQUIRE(kernels.size() == 1);
  return kernel_facts(*unit, *kernels[0]);
}

/// Facts as rules see them, without tasks and slices.
inline FileFacts facts_of(const ParsedUnit &unit) {
  FileFacts facts;
  facts.path = unit.file().path;
  facts.pass = unit.pass();
  for (const auto *launch : unit.launches())
    facts.launches.push_back(launch_facts(unit, *launch));
  for (const auto *kernel : unit.kernels()) {
    facts.kernels.push_back(kernel_facts(unit, *kernel));
    for (std::size_t i = 0; i < facts.launches.size(); ++i)
      if (facts.launches[i].kernel == facts.kernels.back().name)
        facts.kernels.back().launches.push_back(i);
  }
  return facts;
}

} // namespace warpwright::analysis::test
