// Table-driven translation of compiler flags: which take a value, which are kept, which are
// renamed.
//
// Sources: "nvcc command options" in the CUDA compiler driver manual; Clang's command line
// reference. Thread: any.
#include "analysis/config/flags.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Allocator.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/StringSaver.h>

#include <algorithm>
#include <array>
#include <set>

namespace warpwright::config {
namespace {

enum class Kind {
  Path,          ///< kept, value made absolute
  Text,          ///< kept as it is
  Standard,      ///< -std
  Language,      ///< -x
  HostFlags,     ///< comma-separated flags of the host compiler
  ResponseFiles, ///< comma-separated files of more flags
  CudaPath,
  CodeGeneration, ///< kept for NVRTC
  Dropped,        ///< dropped together with its value
};

struct Option {
  std::string_view name; ///< as written, dashes included
  Kind kind;
  std::string_view clang; ///< Clang's spelling
  bool joins = false;     ///< the value may follow without "=" or space: -Ipath
};

constexpr auto kOptions = std::to_array<Option>({
    {"--include-path", Kind::Path, "-I"},
    {"--system-include", Kind::Path, "-isystem"},
    {"--pre-include", Kind::Path, "-include"},
    {"--define-macro", Kind::Text, "-D"},
    {"--undefine-macro", Kind::Text, "-U"},
    {"-isystem", Kind::Path, "-isystem", true},
    {"-iquote", Kind::Path, "-iquote", true},
    {"-idirafter", Kind::Path, "-idirafter", true},
    {"-isysroot", Kind::Path, "-isysroot"},
    {"--sysroot", Kind::Path, "--sysroot"},
    {"--gcc-toolchain", Kind::Path, "--gcc-toolchain"},
    {"-include", Kind::Path, "-include"},
    {"-imacros", Kind::Path, "-imacros"},
    {"-I", Kind::Path, "-I", true},
    {"-D", Kind::Text, "-D", true},
    {"-U", Kind::Text, "-U", true},
    {"--std", Kind::Standard, "-std"},
    {"-std", Kind::Standard, "-std"},
    {"--x", Kind::Language, "-x"},
    {"-x", Kind::Language, "-x"},
    {"--compiler-options", Kind::HostFlags, ""},
    {"-Xcompiler", Kind::HostFlags, ""},
    {"--options-file", Kind::ResponseFiles, ""},
    {"-optf", Kind::ResponseFiles, ""},
    {"--cuda-path", Kind::CudaPath, ""},
    {"-maxrregcount", Kind::CodeGeneration, "--maxrregcount"},
    {"--maxrregcount", Kind::CodeGeneration, "--maxrregcount"},
    {"-ftz", Kind::CodeGeneration, "--ftz"},
    {"--ftz", Kind::CodeGeneration, "--ftz"},
    {"-prec-div", Kind::CodeGeneration, "--prec-div"},
    {"--prec-div", Kind::CodeGeneration, "--prec-div"},
    {"-prec-sqrt", Kind::CodeGeneration, "--prec-sqrt"},
    {"--prec-sqrt", Kind::CodeGeneration, "--prec-sqrt"},
    {"-fmad", Kind::CodeGeneration, "--fmad"},
    {"--fmad", Kind::CodeGeneration, "--fmad"},
});

/// Flags without a value that change the machine code of kernels. nvcc takes one dash or two.
constexpr auto kCodeGeneration =
    std::to_array<std::string_view>({"--use_fast_math", "--extra-device-vectorization", "--restrict"});

/// Options of nvcc and of host compilers that take the next word as a value. All are dropped.
constexpr auto kDroppedWithValue = std::to_array<std::string_view>({
    "-gencode",
    "--generate-code",
    "-arch",
    "--gpu-architecture",
    "-code",
    "--gpu-code",
    "-ccbin",
    "--compiler-bindir",
    "-Xptxas",
    "--ptxas-options",
    "-Xlinker",
    "--linker-options",
    "-Xnvlink",
    "--nvlink-options",
    "-Xarchive",
    "--archive-options",
    "-Xcudafe",
    "-Xfatbin",
    "-Xclang",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xcuda-ptxas",
    "-mllvm",
    "-o",
    "--output-file",
    "-odir",
    "--output-directory",
    "-MF",
    "-MT",
    "-MQ",
    "--dependency-output",
    "--dependency-target-name",
    "-t",
    "--threads",
    "-split-compile",
    "--split-compile",
    "-L",
    "--library-path",
    "-l",
    "--library",
    "-m",
    "--machine",
    "-rdc",
    "--relocatable-device-code",
    "-cudart",
    "--cudart",
    "-cudadevrt",
    "--cudadevrt",
    "-default-stream",
    "--default-stream",
    "-keep-dir",
    "--keep-dir",
    "-diag-suppress",
    "--diag-suppress",
    "-diag-error",
    "--diag-error",
    "-diag-warn",
    "--diag-warn",
    "-target",
    "-ldir",
    "--libdevice-directory",
    "-dopt",
    "--dopt",
    "-Werror",
    "--Werror",
    "-O",
    "--optimize",
    "-time",
    "--time",
    "-tmpdir",
    "-opt-info",
    "--opt-info",
    "-jump-table-density",
    "--jump-table-density",
    "-arch-list",
});

/// Flags of host compilers that affect parsing. A trailing * matches any ending.
constexpr auto kKept = std::to_array<std::string_view>({
    "-m32",
    "-m64",
    "-march=*",
    "-mavx*",
    "-msse*",
    "-mfma",
    "-mf16c",
    "-mbmi*",
    "-fopenmp",
    "-fno-exceptions",
    "-fexceptions",
    "-fno-rtti",
    "-frtti",
    "-fsigned-char",
    "-funsigned-char",
    "-fms-extensions",
    "-fchar8_t",
    "-fno-char8_t",
    "-fpermissive",
    "-fcoroutines",
    "-fshort-enums",
    "-fshort-wchar",
    "-nostdinc",
    "-nostdinc++",
    "-nostdlibinc",
    "-stdlib=*",
    "-pthread",
    "-ansi",
    "-undef",
});

/// Languages with text input. Clang's -x also accepts syntax trees, modules and machine code.
constexpr auto kLanguages = std::to_array<std::string_view>(
    {"cu", "cuda", "c", "c++", "c-header", "c++-header", "cuda-cpp-output"});

bool matches(std::string_view pattern, std::string_view flag) {
  return pattern.ends_with('*') ? flag.starts_with(pattern.substr(0, pattern.size() - 1))
                                : flag == pattern;
}

/// nvcc separates a value by a space or "="; -I and similar options also take it directly.
const Option *find_option(std::string_view argument, std::optional<std::string_view> &value) {
  for (const Option &option : kOptions) {
    if (!argument.starts_with(option.name))
      continue;
    const std::string_view rest = argument.substr(option.name.size());
    value = std::nullopt;
    if (rest.empty())
      return &option;
    if (rest[0] == '=' && option.name.size() > 2)
      value = rest.substr(1);
    else if (option.joins)
      value = rest[0] == '=' ? rest.substr(1) : rest;
    if (value)
      return &option;
  }
  return nullptr;
}

class Translator {
public:
  Translator(const std::string &directory, const ReadFile &read_file)
      : directory_(directory), read_file_(read_file) {}

  void translate(const std::vector<std::string> &arguments) {
    for (std::size_t index = 0; index < arguments.size(); ++index) {
      const std::string &argument = arguments[index];
      std::optional<std::string_view> value;
      if (argument.starts_with('@')) {
        include_response_file(argument.substr(1), argument);
      } else if (const Option *option = find_option(argument, value)) {
        if (!value && ++index < arguments.size())
          value = arguments[index];
        if (value)
          apply(*option, *value);
        else
          result.dropped.push_back(argument);
      } else if (std::ranges::find(kDroppedWithValue, argument) != kDroppedWithValue.end()) {
        result.dropped.push_back(argument);
        // -Werror and -O may stand alone. For the other options, the next word is a value unless it
        // looks like a flag.
        if (index + 1 < arguments.size() && takes_next(argument, arguments[index + 1]))
          result.dropped.back() += " " + arguments[++index];
      } else if (const auto code = std::ranges::find_if(
                     kCodeGeneration, [&](std::string_view name) { return name == argument || name.substr(1) == argument; });
                 code != kCodeGeneration.end()) {
        result.code_generation.emplace_back(*code);
      } else if (std::ranges::any_of(
                     kKept, [&](std::string_view kept) { return matches(kept, argument); })) {
        result.flags.push_back(argument);
      } else {
        result.dropped.push_back(argument);
      }
    }
  }

  TranslatedFlags result;

private:
  static bool takes_next(const std::string &option, const std::string &next) {
    const bool may_stand_alone =
        option == "-Werror" || option == "--Werror" || option == "-O" || option == "-m";
    return !may_stand_alone && !(next.starts_with("-") && next.size() > 1 && !is_free_form(option));
  }
  /// Whether the values of an option are flags themselves.
  static bool is_free_form(const std::string &option) {
    return option.starts_with("-X") || option == "-mllvm" || option.ends_with("-options");
  }

  std::string absolute(std::string_view path) const {
    llvm::SmallString<128> result(path);
    if (!llvm::sys::path::is_absolute(path)) {
      result = directory_;
      llvm::sys::path::append(result, path);
    }
    llvm::sys::path::remove_dots(result, /*remove_dot_dot=*/true);
    return std::string(result);
  }

  void apply(const Option &option, std::string_view value) {
    switch (option.kind) {
    case Kind::Path:
      result.flags.emplace_back(option.clang);
      result.flags.push_back(absolute(value));
      return;
    case Kind::Text:
      result.flags.push_back(std::string(option.clang) + std::string(value));
      return;
    case Kind::Standard:
      result.flags.push_back("-std=" + std::string(value));
      return;
    case Kind::Language:
      if (std::ranges::find(kLanguages, value) == kLanguages.end())
        return result.dropped.push_back("-x " + std::string(value));
      result.flags.emplace_back("-x");
      result.flags.emplace_back(value == "cu" ? "cuda" : value);
      return;
    case Kind::HostFlags:
      return translate(split_list(value));
    case Kind::ResponseFiles:
      for (const std::string &path : split_list(value))
        include_response_file(path, "--options-file " + path);
      return;
    case Kind::CudaPath:
      result.cuda_path = absolute(value);
      return;
    case Kind::CodeGeneration:
      return set_code_generation(option.clang, value);
    case Kind::Dropped:
      return;
    }
  }

  /// The last value of an option counts. nvcc also knows 1 and 0 for true and false.
  void set_code_generation(std::string_view name, std::string_view value) {
    const bool is_number = !value.empty() && value.size() <= 3 && value.find_first_not_of("0123456789") == value.npos;
    const std::string_view known = name == "--maxrregcount"             ? (is_number ? value : "")
                                   : value == "true" || value == "1"    ? "true"
                                   : value == "false" || value == "0"   ? "false"
                                                                        : "";
    if (known.empty())
      return result.dropped.push_back(std::string(name) + " " + std::string(value));
    const std::string key = std::string(name) + "=";
    std::erase_if(result.code_generation, [&](const std::string &flag) { return flag.starts_with(key); });
    result.code_generation.push_back(key + std::string(known));
  }

  static std::vector<std::string> split_list(std::string_view value) {
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
        value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    std::vector<std::string> result;
    std::string current;
    for (std::size_t index = 0; index <= value.size(); ++index) {
      const bool is_end = index == value.size();
      if (!is_end && value[index] == '\\' && index + 1 < value.size())
        current += value[++index];
      else if (!is_end && value[index] != ',')
        current += value[index];
      else if (!current.empty())
        std::ranges::move(split_command(std::exchange(current, {})), std::back_inserter(result));
    }
    return result;
  }

  /// Reads each response file once, so a file that names itself does not recurse.
  void include_response_file(const std::string &path, const std::string &flag) {
    const std::string full = absolute(path);
    if (!visited_.insert(full).second)
      return;
    if (const std::optional<std::string> text = read_file_(full))
      translate(split_command(*text));
    else
      result.dropped.push_back(flag);
  }

  const std::string &directory_;
  const ReadFile &read_file_;
  std::set<std::string> visited_;
};

/// Launchers that CMake writes before the compiler.
bool is_launcher(std::string_view program) {
  const llvm::StringRef name = llvm::sys::path::filename(program);
  return name == "ccache" || name == "sccache" || name == "distcc" || name == "icecc";
}

std::string toolkit_of(const std::string &compiler) {
  if (llvm::sys::path::filename(compiler) != "nvcc" || !llvm::sys::path::is_absolute(compiler))
    return {};
  return llvm::sys::path::parent_path(llvm::sys::path::parent_path(compiler)).str();
}

bool is_below(const std::string &path, const std::string &folder) {
  return path == folder || path.starts_with(folder.ends_with('/') ? folder : folder + "/");
}

} // namespace

std::vector<std::string> split_command(std::string_view command) {
  llvm::BumpPtrAllocator memory;
  llvm::StringSaver saver(memory);
  llvm::SmallVector<const char *, 64> words;
  llvm::cl::TokenizeGNUCommandLine(command, saver, words);
  return {words.begin(), words.end()};
}

TranslatedFlags translate_flags(const std::vector<std::string> &command,
                                const std::string &directory, const ReadFile &read_file) {
  Translator translator(directory, read_file);
  std::size_t compiler = 0;
  while (compiler + 1 < command.size() && is_launcher(command[compiler]))
    ++compiler;
  if (compiler < command.size()) {
    translator.result.cuda_path = toolkit_of(command[compiler]);
    translator.translate(
        {command.begin() + static_cast<std::ptrdiff_t>(compiler) + 1, command.end()});
  }
  return std::move(translator.result);
}

ProjectFlags project_flags(const std::vector<std::string> &written, const std::string &folder) {
  const ReadFile no_files = [](const std::string &) { return std::nullopt; };
  Translator translator(folder, no_files);
  translator.translate(written);
  ProjectFlags result{.flags = std::move(translator.result.flags),
                      .code_generation = std::move(translator.result.code_generation),
                      .inside = {},
                      .outside = {},
                      .dropped = std::move(translator.result.dropped)};
  if (!translator.result.cuda_path.empty())
    result.dropped.push_back("--cuda-path=" + translator.result.cuda_path);
  const auto takes_path = [](const std::string &flag) {
    return std::ranges::any_of(kOptions, [&](const Option &option) {
      return option.kind == Kind::Path && option.clang == flag;
    });
  };
  for (std::size_t i = 0; i < result.flags.size(); ++i) {
    const bool has_path = takes_path(result.flags[i]) && i + 1 < result.flags.size();
    if (has_path && !is_below(result.flags[i + 1], folder)) {
      result.outside.push_back(result.flags[i] + " " + result.flags[i + 1]);
      ++i;
      continue;
    }
    result.inside.push_back(result.flags[i]);
    if (has_path)
      result.inside.push_back(result.flags[++i]);
  }
  return result;
}

} // namespace warpwright::config
