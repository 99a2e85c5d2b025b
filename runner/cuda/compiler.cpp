// Implementation of Compiler with NVRTC. The signatures are from the NVRTC 13.0 reference; driver.h
// gives the reason why they are declared here.
#include "runner/cuda/compiler.h"

#include "arch/gpu.h"
#include "runner/cuda/kernel_parts.h"
#include "support/hash.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace warpwright::runner::cuda {
namespace {

using NvrtcProgram = struct _nvrtcProgram *;

struct Nvrtc {
  SharedLibrary library;
  SharedLibrary builtins; ///< NVRTC opens this library by name and finds it if it is already open
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

  /// Opens the builtins library in NVRTC's folder, because the toolkit may not be on the loader's
  /// path.
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

/// The folder that every source appears to be in. No file can exist there, so a source's relative
/// includes can only find the toolkit's headers. (--no-source-include would also prevent the
/// toolkit's headers from including files of their own folder, which mma.h needs.)
constexpr const char *kNowhere = "/dev/null/";

class ProgramHandle {
public:
  ProgramHandle(const Nvrtc &nvrtc, const std::string &source) : nvrtc_(nvrtc) {
    const std::string name = kNowhere + std::string(kSourceName);
    nvrtc_.create(&program_, source.c_str(), name.c_str(), 0, nullptr, nullptr);
  }
  ProgramHandle(const ProgramHandle &) = delete;
  ~ProgramHandle() { nvrtc_.destroy(&program_); }
  NvrtcProgram get() const { return program_; }

private:
  const Nvrtc &nvrtc_;
  NvrtcProgram program_ = nullptr;
};

/// Sources with more bytes than this are compiled on several cores.
constexpr std::size_t kLargeSource = 150'000;
/// A compiler takes one of so many cores, since several processes compile (service/compile_ahead.h).
constexpr unsigned kCoresForThread = 4;

class NvrtcCompiler final : public Compiler {
public:
  NvrtcCompiler(Nvrtc nvrtc, ToolkitPaths toolkit, const CompilerOptions &options)
      : nvrtc_(std::move(nvrtc)), toolkit_(std::move(toolkit)), cache_(options.cache) {
    int major = 0, minor = 0;
    nvrtc_.version(&major, &minor);
    major_ = major;
    version_ = std::to_string(major) + "." + std::to_string(minor);
    // From Hopper on, "a" targets enable architecture-specific instructions (wgmma, setmaxnreg).
    architecture_ = arch::compile_target(options.compute_capability);
  }

  std::string version() const override { return version_; }
  std::string library_path() const override { return nvrtc_.library.path(); }
  const ToolkitPaths &toolkit() const override { return toolkit_; }

  DeviceResult<CompileOutput> compile(const CompileRequest &request) override {
    const std::vector<std::string> options = all_options(request);
    const std::string key = key_of(request, options);
    CompileOutput output;
    if (auto cached = cache_ ? cache_->find(key) : std::nullopt;
        cached && cached->lowered_names.size() == request.kernels.size()) {
      output.code = std::move(*cached);
    } else {
      output.code = TRY(run_nvrtc(request, options));
      if (cache_)
        cache_->store(key, output.code);
    }
    for (std::size_t i = 0; i < request.kernels.size(); ++i)
      output.reports.push_back(report_of(request.kernels[i], output.code, i));
    return output;
  }

  DeviceResult<CompiledKernels> compile_kernels(const CompileRequest &request) override {
    if (auto apart = compiled_apart(request))
      return std::move(*apart);
    CompileOutput whole = TRY(compile(request));
    CompiledKernels output{.symbols = whole.code.lowered_names, .reports = std::move(whole.reports)};
    output.module_of.resize(request.kernels.size());
    output.modules.push_back(std::move(whole.code));
    return output;
  }

private:
  static model::CompileReport report_of(const std::string &kernel, const CompiledCode &code, std::size_t place) {
    model::CompileReport report;
    report.kernel = kernel;
    report.compile_ms = code.compile_ms;
    report.log = warnings(code.log);
    read_ptxas_report(code.log, code.lowered_names[place], report);
    return report;
  }

  /// nullopt: the request is not separable, or a part does not compile.
  std::optional<CompiledKernels> compiled_apart(const CompileRequest &request) {
    const auto parts = request.separable ? kernel_parts(request.source, request.kernels) : std::nullopt;
    if (!parts)
      return std::nullopt;
    const std::size_t count = parts->size();
    std::vector<CompileRequest> requests;
    std::vector<std::vector<std::string>> options;
    std::vector<std::string> keys;
    std::vector<std::optional<CompiledCode>> codes;
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < count; ++i) {
      requests.push_back({(*parts)[i].source, request.options, {(*parts)[i].kernel}});
      options.push_back(all_options(requests[i]));
      keys.push_back(key_of(requests[i], options[i]));
      codes.push_back(cache_ ? cache_->find(keys[i]) : std::nullopt);
      if (!codes[i] || codes[i]->lowered_names.size() != 1)
        missing.push_back(i);
    }
    std::atomic<std::size_t> next = 0;
    const auto compile_missing = [&] {
      for (std::size_t at = next++; at < missing.size(); at = next++) {
        const std::size_t i = missing[at];
        auto code = run_nvrtc(requests[i], options[i]);
        codes[i] = code ? std::optional(std::move(*code)) : std::nullopt;
      }
    };
    {
      std::vector<std::jthread> others;
      for (unsigned more = std::thread::hardware_concurrency() / kCoresForThread;
           more > 1 && others.size() + 1 < missing.size(); --more)
        others.emplace_back(compile_missing);
      compile_missing();
    }
    if (std::ranges::any_of(codes, [](const auto &code) { return !code; }))
      return std::nullopt;
    for (const std::size_t i : missing)
      if (cache_)
        cache_->store(keys[i], *codes[i]);
    CompiledKernels output;
    for (std::size_t i = 0; i < count; ++i) {
      output.module_of.push_back(i);
      output.symbols.push_back(codes[i]->lowered_names.front());
      output.reports.push_back(report_of(request.kernels[i], *codes[i], 0));
      output.modules.push_back(std::move(*codes[i]));
    }
    return output;
  }

  std::vector<std::string> all_options(const CompileRequest &request) const {
    std::vector<std::string> options = {"--gpu-architecture=" + architecture_,
                                        "--ptxas-options=-v",
                                        // what nvcc would compile for the host alone is not called here
                                        "--device-as-default-execution-space"};
    const bool has_standard =
        std::any_of(request.options.begin(), request.options.end(), [](const std::string &option) {
          return option.find("-std=") != std::string::npos;
        });
    if (!has_standard)
      options.push_back("-std=c++17");
    if (request.source.contains("register ")) // nvcc takes the storage class in C++17 too
      options.push_back("-Dregister=");
    for (const auto &directory : toolkit_.include_dirs)
      options.push_back("-I" + directory.string());
    // Plans of whole networks have a hundred kernels or more. Split compilation uses all cores but
    // does some work twice.
    if (major_ >= 13 && request.source.size() > kLargeSource)
      for (const char *option : {"-split-compile=0", "--ptxas-options=-split-compile=0"})
        options.emplace_back(option);
    options.insert(options.end(), request.options.begin(), request.options.end());
    return options;
  }

  std::string key_of(const CompileRequest &request, const std::vector<std::string> &options) const {
    std::string text = "2\n" + version_ + '\n';
    for (const auto *list : {&options, &request.kernels}) {
      for (const std::string &entry : *list)
        text += entry + '\n';
      text += '\0';
    }
    return sha256_hex(text + request.source);
  }

  DeviceResult<CompiledCode> run_nvrtc(const CompileRequest &request,
                                       const std::vector<std::string> &options) const {
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
    code.log = without_foreign_files(log_of(program), request.source, toolkit_.include_dirs);
    std::size_t size = 0;
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

  /// The program's log, with the source named kSourceName.
  std::string log_of(const ProgramHandle &program) const {
    std::size_t size = 0;
    nvrtc_.log_size(program.get(), &size);
    std::string log(size, '\0');
    nvrtc_.log(program.get(), log.data());
    log.resize(std::min(log.find('\0'), size));
    const std::string_view nowhere = kNowhere;
    for (std::size_t at = log.find(nowhere); at != std::string::npos; at = log.find(nowhere, at))
      log.erase(at, nowhere.size());
    return log;
  }

  Nvrtc nvrtc_;
  ToolkitPaths toolkit_;
  std::shared_ptr<CompileCache> cache_;
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

} // namespace warpwright::runner::cuda
