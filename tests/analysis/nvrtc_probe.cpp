#include "nvrtc_probe.h"

#include <cstddef>
#include <cstdlib>
#include <dlfcn.h>

namespace warpwright::tests {
namespace {

using Program = void *;

struct Nvrtc {
  void *library = nullptr;
  std::string include_path;
  int (*create)(Program *, const char *, const char *, int, const char *const *,
                const char *const *) = nullptr;
  int (*add_name)(Program, const char *) = nullptr;
  int (*compile)(Program, int, const char *const *) = nullptr;
  int (*log_size)(Program, std::size_t *) = nullptr;
  int (*log)(Program, char *) = nullptr;
  int (*ptx_size)(Program, std::size_t *) = nullptr;
  int (*ptx)(Program, char *) = nullptr;
  int (*destroy)(Program *) = nullptr;
};

template <class Function>
void resolve(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

Nvrtc load() {
  Nvrtc nvrtc;
  const char *variable = std::getenv("CUDA_PATH");
  const std::string roots[] = {variable ? variable : "", "/usr/local/cuda"};
  for (const std::string &root : roots)
    for (const char *folder : {"/lib64/", "/lib/", "/targets/x86_64-linux/lib/"})
      for (const char *name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"})
        if (!nvrtc.library && !root.empty() &&
            (nvrtc.library = dlopen((root + folder + name).c_str(), RTLD_NOW)))
          nvrtc.include_path = root + "/include";
  if (!nvrtc.library)
    return nvrtc;
  resolve(nvrtc.library, "nvrtcCreateProgram", nvrtc.create);
  resolve(nvrtc.library, "nvrtcAddNameExpression", nvrtc.add_name);
  resolve(nvrtc.library, "nvrtcCompileProgram", nvrtc.compile);
  resolve(nvrtc.library, "nvrtcGetProgramLogSize", nvrtc.log_size);
  resolve(nvrtc.library, "nvrtcGetProgramLog", nvrtc.log);
  resolve(nvrtc.library, "nvrtcGetPTXSize", nvrtc.ptx_size);
  resolve(nvrtc.library, "nvrtcGetPTX", nvrtc.ptx);
  resolve(nvrtc.library, "nvrtcDestroyProgram", nvrtc.destroy);
  return nvrtc;
}

} // namespace

std::optional<std::string> nvrtc_errors(const std::string &source,
                                        const std::vector<std::string> &names,
                                        const std::string &architecture, std::string *ptx) {
  static const Nvrtc nvrtc = load();
  if (!nvrtc.library)
    return std::nullopt;
  Program program = nullptr;
  if (nvrtc.create(&program, source.c_str(), "slice.cu", 0, nullptr, nullptr) != 0)
    return "nvrtcCreateProgram failed";
  for (const std::string &name : names)
    nvrtc.add_name(program, name.c_str());
  const std::string include = "-I" + nvrtc.include_path, cccl = "-I" + nvrtc.include_path + "/cccl";
  const std::string target = "--gpu-architecture=" + architecture;
  const char *options[] = {target.c_str(), "-std=c++17", "--device-as-default-execution-space", include.c_str(),
                           cccl.c_str()};
  const int result = nvrtc.compile(program, static_cast<int>(std::size(options)), options);
  std::size_t size = 0;
  nvrtc.log_size(program, &size);
  std::string log(size, '\0');
  nvrtc.log(program, log.data());
  if (ptx && result == 0 && nvrtc.ptx_size(program, &size) == 0) {
    ptx->resize(size);
    nvrtc.ptx(program, ptx->data());
  }
  nvrtc.destroy(&program);
  return result == 0 ? std::string() : log + "\n" + source;
}

} // namespace warpwright::tests
