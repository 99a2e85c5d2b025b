// The stub pass: parses against built-in declarations, so that facts are there within milliseconds
// of opening.
//
// Reads the user's own headers and no others: standard, CUDA and framework headers are left out
// (their stand-ins are built in), because reading them is what makes other tools slow. Thread: any;
// every call is on its own.
#include "analysis/parse/clang_unit.h"
#include "analysis/parse/project_headers.h"
#include "analysis/stub/stub_headers.h"

#include <algorithm>
#include <array>

namespace warpwright::analysis {
namespace {

constexpr std::string_view kStubDirectory = "/.warpwright-stub/";
constexpr std::string_view kPrecompiled = "core.pch";

bool needs(const StubHeader &header, std::string_view text) {
  return header.mentions.empty() ||
         std::ranges::any_of(header.mentions, [&](std::string_view word) {
           return !word.empty() && text.contains(word);
         });
}

/// Whether Clang takes the precompiled groups beside these flags: only with the language they were
/// compiled for.
bool suit_precompiled(const std::vector<std::string> &flags) {
  static constexpr std::array kTakeValue{"-I",         "-isystem", "-iquote",
                                         "-idirafter", "-include", "-imacros"};
  for (std::size_t index = 0; index < flags.size(); ++index) {
    const std::string &flag = flags[index];
    const bool is_language = flag == "-x" && index + 1 < flags.size() && flags[index + 1] == "cuda";
    if (is_language || std::ranges::find(kTakeValue, flag) != kTakeValue.end())
      ++index;
    else if (!flag.starts_with("-D") && !flag.starts_with("-I") && flag != "-std=c++17")
      return false;
  }
  return true;
}

std::string stub_path(std::string_view name) {
  return std::string(kStubDirectory) + std::string(name);
}

std::vector<std::string> stub_arguments(const SourceFile &file, const ParseSettings &settings,
                                        bool precompiled) {
  // stub/precompile.cmake compiles the core groups with the same.
  std::vector<std::string> arguments{"-x",
                                     "cuda",
                                     "--cuda-host-only",
                                     "-nocudainc",
                                     "-nocudalib",
                                     "-nostdinc",
                                     "-nostdinc++",
                                     "-w",
                                     "-std=c++17",
                                     "-ferror-limit=0",
                                     "--target=x86_64-pc-linux-gnu"};
  arguments.insert(arguments.end(), settings.flags.begin(), settings.flags.end());
  if (precompiled)
    arguments.insert(arguments.end(), {"-include-pch", stub_path(kPrecompiled)});
  for (const StubHeader &header : stub_headers())
    if (needs(header, file.text) && !(precompiled && header.is_precompiled))
      arguments.insert(arguments.end(), {"-include", stub_path(header.name)});
  return arguments;
}

FileSystem with_stubs(FileSystem files) {
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  const auto add = [&](std::string_view name, std::string_view content) {
    const std::string path = stub_path(name);
    memory->addFile(path, 0, llvm::MemoryBuffer::getMemBuffer(content, path));
  };
  for (const StubHeader &header : stub_headers())
    add(header.name, header.text);
  add(kPrecompiled, stub_precompiled());
  auto overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(std::move(files));
  overlay->pushOverlay(std::move(memory));
  return overlay;
}

Result<std::unique_ptr<ParsedUnit>> parse_with(const SourceFile &file,
                                               const ParseSettings &settings, FileSystem files,
                                               bool precompiled) {
  auto invocation = make_invocation(stub_arguments(file, settings, precompiled), file.path, files);
  if (!invocation)
    return std::unexpected(invocation.error());
  return parse(file, std::move(*invocation), std::move(files),
               {.pass = Pass::Stub, .skip_missing_headers = true});
}

} // namespace

Result<std::unique_ptr<ParsedUnit>> parse_stub(SourceFile file, const ParseSettings &settings,
                                               FileSystem files) {
  file.path = absolute_path(file.path, settings.directory);
  const auto served = [&] {
    FileSystem own =
        llvm::makeIntrusiveRefCnt<ProjectHeaders>(files, file.path, settings.cuda_path);
    return with_file(with_stubs(std::move(own)), file);
  };
  if (suit_precompiled(settings.flags))
    if (auto unit = parse_with(file, settings, served(), true))
      return unit;
  return parse_with(file, settings, served(), false);
}

} // namespace warpwright::analysis
