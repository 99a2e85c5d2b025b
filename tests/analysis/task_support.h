// Infers the task of one kernel of a source text. Shared by the tests of analysis/task.
#pragma once

#include "analysis/analyze.h"
#include "analysis/task/infer_task.h"

#include <doctest/doctest.h>

#include <llvm/Support/VirtualFileSystem.h>

#include <map>

namespace warpwright::analysis {

struct Inferred {
  Kernel kernel;
  InferredTask task;
};

inline Inferred infer_in(const ParsedUnit &unit, const std::string &name, const Spec &spec = {}) {
  const clang::FunctionDecl *declaration = unit.find_kernel(name);
  REQUIRE_MESSAGE(declaration, "no kernel " << name);
  Inferred result{kernel_facts(unit, *declaration), {}};
  const Result<std::string> slice = slice_kernel(unit, *declaration);
  REQUIRE_MESSAGE(slice, (slice ? "" : describe(slice.error())));
  result.task = infer_task(unit, *declaration, result.kernel, *slice, spec);
  return result;
}

inline Inferred infer(const std::string &source, const std::string &name, const Spec &spec = {},
                      const ParseSettings &settings = {}) {
  auto unit = parse_stub({"/test/task.cu", source}, settings);
  REQUIRE(unit);
  return infer_in(**unit, name, spec);
}

/// With the arguments of a run command.
inline Inferred infer_run(const std::string &source, const std::string &name,
                          std::vector<std::string> arguments) {
  ParseSettings settings;
  settings.run = {std::move(arguments), "the target run of Makefile"};
  return infer(source, name, {}, settings);
}

inline llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem>
files_in_memory(const std::map<std::string, std::string> &texts) {
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const auto &[path, text] : texts)
    files->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, path));
  return files;
}

inline std::string questions(const InferredTask &task) {
  std::string text;
  for (const MissingFact &fact : task.missing)
    text += fact.name + ": " + fact.question + "\n";
  return text;
}

} // namespace warpwright::analysis
