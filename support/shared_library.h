// Library opened at run time, so that a program starts on machines without it.
#pragma once

#include <dlfcn.h>
#include <string>
#include <utility>
#include <vector>

namespace warpwright {

class SharedLibrary {
public:
  SharedLibrary() = default;
  /// Opens the first candidate that can be opened. If there is none, the library stays closed.
  explicit SharedLibrary(const std::vector<std::string> &candidates) {
    for (const std::string &path : candidates)
      if ((handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))) {
        path_ = path;
        return;
      }
  }
  SharedLibrary(SharedLibrary &&other) noexcept { *this = std::move(other); }
  SharedLibrary &operator=(SharedLibrary &&other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(path_, other.path_);
    return *this;
  }
  ~SharedLibrary() {
    if (handle_)
      dlclose(handle_);
  }

  bool is_open() const { return handle_ != nullptr; }
  const std::string &path() const { return path_; }
  /// Address of a symbol; null if the library lacks it.
  template <class Function>
  Function *find(const char *symbol) const {
    return reinterpret_cast<Function *>(dlsym(handle_, symbol));
  }
  /// Sets a pointer to a function of the library; null if it lacks the function or is not open.
  /// @return whether the function was found
  template <class Function>
  bool bind(Function *&function, const char *symbol) const {
    function = is_open() ? find<Function>(symbol) : nullptr;
    return function != nullptr;
  }

private:
  void *handle_ = nullptr;
  std::string path_;
};

} // namespace warpwright
