// The NVRTC calls. Signatures from the NVRTC 13.0 reference; declared here for the reason given in
// driver.h.
#include "runner/cuda/compiler.h"
#include "support/hash.h"

#include <algorithm>
#include <chrono>
#include <regex>

namespace warpwright::runner::cuda {
namespace {

using NvrtcProgram = struct _nvrtcProgram *;

struct Nvrtc {
  SharedLibrary library;
  SharedLibrary builtins; ///< which NVRTC opens by name: found when it is open already
  int (*version)(int *, int *) = nullptr;
  const char *(*error_string)(int) = nullptr;
  int (*create)(NvrtcProgram *, const char *, const char *, int, const char *const *,
                const char *const *) = nullptr;
  int (*destroy)(NvrtcProgram *) = nullptr;
  int (*compile)(NvrtcProgram, int, const char *const *) = nullptr;
  int (*cubin_size)(NvrtcProgram, std::size_t *) = nullptr;
  int (*cubin)(NvrtcProgram, char *) = nullptr;
  int (*log_size)(NvrtcProgram, std::size_t *) = nullptr;
  int (*log)(NvrtcProgram, char *) = nullptr;
  int (*add_name)(NvrtcProgram, const char *) = nullptr;
  int (*lowered_name)(NvrtcProgram, const char *, const char **) = nullptr;

  /// From beside NVRTC: a toolkit need not be on the loader's path.
  void open_builtins() {
    int major = 0, minor = 0;
    if (version(&major, &minor) != 0)
      return;
    const std::filesystem::path beside = std::filesystem::path(library.path()).parent_path();
    const std::string name =
        "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor);
    builtins = SharedLibrary({(beside / name).string()});
  }
  bool bind() {
    const auto load = [&](auto &member, const char *symbol) {
      member =
          library.find<std::remove_pointer_t<std::remove_reference_t<decltype(member)>>>(symbol);
      return member != nullptr;
    };
    return load(version, "nvrtcVersion") && load(error_string, "nvrtcGetErrorString") &&
           load(create, "nvrtcCreateProgram") && load(destroy, "nvrtcDestroyProgram") &&
           load(compile, "nvrtcCompileProgram") && load(cubin_size, "nvrtcGetCUBINSize") &&
           load(cubin, "nvrtcGetCUBIN") && load(log_size, "nvrtcGetProgramLogSize") &&
           load(log, "nvrtcGetProgramLog") && load(add_name, "nvrtcAddNameExpression") &&
           load(lowered_name, "nvrtcGetLoweredName");
  }
};

class ProgramHandle {
public:
  ProgramHandle(const Nvrtc &nvrtc, const std::string &source) : nvrtc_(nvrtc) {
    nvrtc_.create(&program_, source.c_str(), "kernel.cu", 0, nullptr, nullptr);
  }
  ProgramHandle(const ProgramHandle &) = delete;
  ~ProgramHandle() { nvrtc_.destroy(&program_); }
  NvrtcProgram get() const { return program_; }

private:
  const Nvrtc &nvrtc_;
  NvrtcProgram program_ = nullptr;
};

/// The first line of the log that says error, without the file's invented name.
std::string first_error(const std::string &log, bool has_headers) {
  static const std::regex missing(R"(could not open source file "([^"]+)\")");
  std::smatch match;
  if (!has_headers && std::regex_search(log, match, missing))
    return "the source includes " + match[1].str() +
           ", and no CUDA headers were found; install the toolkit, or set CUDA_HOME to one";
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);)
    if (line.find("error") != std::string::npos)
      return line.starts_with("kernel.cu(")
                 ? "line " + line.substr(10, line.find(')') - 10) + line.substr(line.find(')') + 1)
                 : line;
  return "NVRTC refused the source";
}

/// Bytes from which on a source is compiled on several cores.
constexpr std::size_t kLargeSource = 150'000;

class NvrtcCompiler final : public Compiler {
public:
  NvrtcCompiler(Nvrtc nvrtc, ToolkitPaths toolkit, const CompilerOptions &options)
      : nvrtc_(std::move(nvrtc)), toolkit_(std::move(toolkit)), cache_(options.cache_directory) {
    int major = 0, minor = 0;
    nvrtc_.version(&major, &minor);
    major_ = major;
    version_ = std::to_string(major) + "." + std::to_string(minor);
    // From Hopper on, "a" targets allow the chip's own instructions (wgmma, setmaxnreg).
    const int capability = options.compute_capability;
    architecture_ =
        "sm_" + std::to_string(capability) + (capability == 90 || capability >= 100 ? "a" : "");
  }

  std::string version() const override { return version_; }
  std::string library_path() const override { return nvrtc_.library.path(); }
  const ToolkitPaths &toolkit() const override { return toolkit_; }

  DeviceResult<CompileOutput> compile(const CompileRequest &request) override {
    const std::vector<std::string> options = all_options(request);
    const std::string key = key_of(request, options);
    CompileOutput output;
    if (auto cached = cache_.find(key)) {
      output.code = std::move(*cached);
    } else {
      auto code = run_nvrtc(request, options);
      if (!code)
        return std::unexpected(code.error());
      output.code = std::move(*code);
      cache_.store(key, output.code);
    }
    for (std::size_t i = 0; i < request.kernels.size(); ++i) {
      model::CompileReport report;
      report.kernel = request.kernels[i];
      report.compile_ms = output.code.compile_ms;
      report.log = warnings(output.code.log);
      read_ptxas_report(output.code.log, output.code.lowered_names[i], report);
      output.reports.push_back(std::move(report));
    }
    return output;
  }

private:
  std::vector<std::string> all_options(const CompileRequest &request) const {
    std::vector<std::string> options = {"--gpu-architecture=" + architecture_,
                                        "--ptxas-options=-v"};
    const bool has_standard =
        std::any_of(request.options.begin(), request.options.end(), [](const std::string &option) {
          return option.find("-std=") != std::string::npos;
        });
    if (!has_standard)
      options.push_back("-std=c++17");
    for (const auto &directory : toolkit_.include_dirs)
      options.push_back("-I" + directory.string());
    // Plans of whole networks hold a hundred kernels and more: all cores, at the price of some work done twice.
    if (major_ >= 13 && request.source.size() > kLargeSource)
      for (const char *option : {"-split-compile=0", "--ptxas-options=-split-compile=0"})
        options.emplace_back(option);
    options.insert(options.end(), request.options.begin(), request.options.end());
    return options;
  }

  std::string key_of(const CompileRequest &request, const std::vector<std::string> &options) const {
    std::string text = "1\n" + version_ + '\n';
    for (const auto *list : {&options, &request.kernels}) {
      for (const std::string &entry : *list)
        text += entry + '\n';
      text += '\0';
    }
    return sha256_hex(text + request.source);
  }

  DeviceResult<CompiledCode> run_nvrtc(const CompileRequest &request,
                                       const std::vector<std::string> &options) {
    const auto start = std::chrono::steady_clock::now();
    const ProgramHandle program(nvrtc_, request.source);
    for (const std::string &kernel : request.kernels)
      if (nvrtc_.add_name(program.get(), kernel.c_str()) != 0)
        return fault(Fault::Kind::CompileFailed,
                     "NVRTC does not take the kernel's name \"" + kernel + "\"");
    std::vector<const char *> pointers;
    for (const std::string &option : options)
      pointers.push_back(option.c_str());
    const int status =
        nvrtc_.compile(program.get(), static_cast<int>(pointers.size()), pointers.data());
    CompiledCode code;
    std::size_t size = 0;
    nvrtc_.log_size(program.get(), &size);
    code.log.resize(size);
    nvrtc_.log(program.get(), code.log.data());
    code.log.resize(code.log.find('\0') == std::string::npos ? size : code.log.find('\0'));
    if (status != 0) {
      Fault failed{Fault::Kind::CompileFailed,
                   first_error(code.log, !toolkit_.include_dirs.empty()), code.log, false};
      if (code.log.empty())
        failed.message = std::string("NVRTC: ") + nvrtc_.error_string(status);
      return std::unexpected(std::move(failed));
    }
    for (const std::string &kernel : request.kernels) {
      const char *lowered = nullptr;
      if (nvrtc_.lowered_name(program.get(), kernel.c_str(), &lowered) != 0 || !lowered)
        return std::unexpected(Fault{Fault::Kind::CompileFailed,
                                     "the source has no kernel \"" + kernel + "\"", code.log,
                                     false});
      code.lowered_names.emplace_back(lowered);
    }
    nvrtc_.cubin_size(program.get(), &size);
    code.cubin.resize(size);
    nvrtc_.cubin(program.get(), code.cubin.data());
    code.compile_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return code;
  }

  /// The log without ptxas's statistics, which the report holds as numbers.
  static std::string warnings(const std::string &log) {
    std::istringstream lines(log);
    std::string kept;
    for (std::string line; std::getline(lines, line);) {
      const bool statistics = line.starts_with("ptxas info") || line.starts_with("    ") ||
                              line.find("bytes stack frame") != std::string::npos;
      if (!statistics && !line.empty())
        kept += line + '\n';
    }
    return kept;
  }

  Nvrtc nvrtc_;
  ToolkitPaths toolkit_;
  CompileCache cache_;
  std::string version_, architecture_;
  int major_ = 0;
};

} // namespace

Result<std::unique_ptr<Compiler>> Compiler::make(const CompilerOptions &options) {
  ToolkitPaths toolkit = find_toolkit();
  Nvrtc nvrtc;
  nvrtc.library = SharedLibrary(toolkit.nvrtc);
  if (!nvrtc.library.is_open())
    return fail("no NVRTC: neither libnvrtc.so.13 nor libnvrtc.so.12 was found in CUDA_HOME, "
                "/usr/local/cuda, "
                "python3's nvidia packages or the library path",
                "Install the CUDA toolkit, or `pip install nvidia-cuda-nvrtc`, or set CUDA_HOME");
  if (!nvrtc.bind())
    return fail(nvrtc.library.path() + " lacks functions of NVRTC 12",
                "Install the CUDA toolkit 12 or later");
  nvrtc.open_builtins();
  return std::make_unique<NvrtcCompiler>(std::move(nvrtc), std::move(toolkit), options);
}

void read_ptxas_report(const std::string &log, const std::string &lowered_name,
                       model::CompileReport &report) {
  std::istringstream lines(log);
  bool in_kernel = false, in_properties = false;
  static const std::regex stack(
      R"((\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads)");
  static const std::regex registers(R"(Used (\d+) registers)"), shared(R"((\d+) bytes smem)");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.find("Compiling entry function '") != std::string::npos)
      in_kernel = line.find('\'' + lowered_name + '\'') != std::string::npos;
    else if (const auto at = line.find("Function properties for "); at != std::string::npos)
      in_properties = line.substr(at + 24) == lowered_name;
    else if (in_properties && std::regex_search(line, match, stack)) {
      report.local_bytes = std::stoll(match[1]);
      report.spill_store_bytes = std::stoll(match[2]);
      report.spill_load_bytes = std::stoll(match[3]);
      in_properties = false;
    } else if (in_kernel && std::regex_search(line, match, registers)) {
      report.registers = std::stoi(match[1]);
      report.static_shared_bytes =
          std::regex_search(line, match, shared) ? std::stoll(match[1]) : 0;
    }
  }
}

} // namespace warpwright::runner::cuda
