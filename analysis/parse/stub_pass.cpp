// The stub pass: parses against built-in declarations, so facts are available within milliseconds
// after a file is opened.
//
// It reads only the user's own headers. Standard, CUDA and framework headers are slow to read, so
// they are replaced by built-in stand-ins. Thread: any; calls are independent.
#include "analysis/parse/clang_unit.h"
#include "analysis/parse/project_headers.h"
#include "analysis/stub/stub_headers.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <llvm/Support/Path.h>

namespace warpwright::analysis {
namespace {

constexpr std::string_view kPrecompiled = "core.pch";

bool needs(const StubHeader &header, std::string_view text) {
  return header.mentions.empty() ||
         std::ranges::any_of(header.mentions, [&](std::string_view word) {
           return !word.empty() && text.contains(word);
         });
}

/// The text of a file and of the user headers it includes, to find the built-in groups they
/// mention.
class Mentions {
public:
  Mentions(const SourceFile &file, const ParseSettings &settings, const FileSystem &files)
      : headers_(files, file.path, settings.cuda_path), text_(file.text) {
    for (std::size_t index = 0; index < settings.flags.size(); ++index) {
      const std::string &flag = settings.flags[index];
      if (flag.starts_with("-I") && flag.size() > 2)
        folders_.push_back(flag.substr(2));
      else if ((flag == "-I" || flag == "-iquote" || flag == "-isystem") &&
               index + 1 < settings.flags.size())
        folders_.push_back(settings.flags[index + 1]);
    }
    for (std::string &folder : folders_)
      if (llvm::sys::path::is_relative(folder))
        folder = settings.directory + "/" + folder;
    follow(file.text, file.path, 0);
  }

  const std::string &text() const { return text_; }

private:
  static constexpr int kMaxDepth = 6;

  void follow(const std::string &text, const std::string &path, int depth) {
    static constexpr std::string_view kInclude = "#include";
    for (std::size_t at = text.find(kInclude); at != std::string::npos;
         at = text.find(kInclude, at + 1)) {
      const std::size_t open = text.find_first_not_of(" \t", at + kInclude.size());
      if (open == std::string::npos || (text[open] != '"' && text[open] != '<'))
        continue;
      const std::size_t close = text.find_first_of("\">\n", open + 1);
      if (close != std::string::npos && text[close] != '\n')
        include(text.substr(open + 1, close - open - 1), path, depth);
    }
  }

  void include(const std::string &name, const std::string &from, int depth) {
    std::vector<std::string> places{llvm::sys::path::parent_path(from).str()};
    places.insert(places.end(), folders_.begin(), folders_.end());
    for (const std::string &place : places) {
      const std::string path = absolute_path(name, place);
      if (depth == kMaxDepth || !seen_.insert(path).second)
        continue;
      const auto buffer = headers_.getBufferForFile(path);
      if (!buffer)
        continue;
      const std::string content = (*buffer)->getBuffer().str();
      text_ += content;
      follow(content, path, depth + 1);
      return;
    }
  }

  ProjectHeaders headers_;
  std::vector<std::string> folders_;
  std::set<std::string> seen_;
  std::string text_;
};

/// Whether the flags are compatible with the precompiled groups: only -D, include folders, `-x
/// cuda` and -std=c++17 are.
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

/// @param mentions text that decides which groups are needed
std::vector<std::string> stub_arguments(std::string_view mentions, const ParseSettings &settings,
                                        bool precompiled) {
  // Keep in sync with stub/precompile.cmake, which compiles the core groups with the same flags.
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
    if (needs(header, mentions) && !(precompiled && header.is_precompiled))
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

/// @param main the file that is compiled: `file`, or one that includes it
Result<std::unique_ptr<ParsedUnit>> parse_with(const SourceFile &file, const SourceFile &main,
                                               std::string_view mentions,
                                               const ParseSettings &settings, FileSystem files,
                                               bool precompiled) {
  auto invocation =
      make_invocation(stub_arguments(mentions, settings, precompiled), main.path, files);
  if (!invocation)
    return std::unexpected(invocation.error());
  return parse(
      file, std::move(*invocation), std::move(files),
      {.pass = Pass::Stub, .skip_missing_headers = true, .is_included = main.path != file.path});
}

Result<std::unique_ptr<ParsedUnit>> parse_in(const SourceFile &main, const SourceFile &file,
                                             const ParseSettings &settings,
                                             const FileSystem &files) {
  const auto served = [&] {
    FileSystem own =
        llvm::makeIntrusiveRefCnt<ProjectHeaders>(files, main.path, settings.cuda_path);
    FileSystem all = with_file(with_stubs(std::move(own)), file);
    return main.path == file.path ? all : with_file(std::move(all), main);
  };
  const Mentions mentions(main, settings, files);
  const bool may_be_precompiled = suit_precompiled(settings.flags);
  auto unit = parse_with(file, main, mentions.text(), settings, served(), may_be_precompiled);
  if (!unit && may_be_precompiled)
    unit = parse_with(file, main, mentions.text(), settings, served(), false);
  return unit;
}

/// The other translation units of a program; files that cannot be read or parsed are left out.
ParsedUnit::Units parse_others(ParseSettings settings, const FileSystem &files) {
  ParsedUnit::Units units;
  const std::vector<std::string> paths = std::exchange(settings.program, {});
  settings.included_by.clear();
  settings.other_includers.clear();
  for (const std::string &path : paths)
    if (const auto text = RegularFiles(files).getBufferForFile(path))
      if (auto unit = parse_stub({path, (*text)->getBuffer().str()}, settings, files))
        units.push_back(std::move(*unit));
  return units;
}

/// NVRTC's options for the kernels of a file with these settings. It is given C++17, or C++20 where the build asks for
/// that or a later one; CUDA's headers need C++17.
std::vector<std::string> compile_options(const ParseSettings &settings) {
  std::string standard = "-std=c++17";
  for (const std::string &flag : settings.flags)
    if (flag.starts_with("-std="))
      standard = flag.contains("++2") ? "-std=c++20" : "-std=c++17";
  std::vector<std::string> options{standard};
  options.insert(options.end(), settings.code_generation.begin(), settings.code_generation.end());
  return options;
}

} // namespace

Result<std::unique_ptr<ParsedUnit>> parse_stub(SourceFile file, const ParseSettings &settings,
                                               FileSystem files) {
  file.path = absolute_path(file.path, settings.directory);
  Result<std::unique_ptr<ParsedUnit>> unit = fail("no file includes " + file.path);
  if (!settings.included_by.empty())
    if (const auto includer = RegularFiles(files).getBufferForFile(settings.included_by))
      unit =
          parse_in({settings.included_by, (*includer)->getBuffer().str()}, file, settings, files);
  if (!unit)
    unit = parse_in(file, file, settings, files);
  if (!unit)
    return unit;
  (*unit)->set_run_command(settings.run);
  (*unit)->set_compile_options(compile_options(settings));
  if (!settings.program.empty())
    (*unit)->set_other_units([settings, files] { return parse_others(settings, files); });
  return unit;
}

} // namespace warpwright::analysis
