#include "runner/capture/files/kernel_names.h"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace warpwright::capture {

std::string demangled(const std::string &symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? text.get() : symbol;
}

std::string base_name(const std::string &symbol) {
  const std::string name = demangled(symbol);
  int depth = 0; // of template arguments
  std::string base;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '(' && depth == 0 && !name.substr(i).starts_with("(anonymous namespace)"))
      break;
    depth += (c == '<') - (c == '>');
    if (depth == 0 && (c == ':' || c == ' ' || c == ')'))
      base.clear();
    else if (depth == 0 && c != '>')
      base += c;
  }
  return base;
}

} // namespace warpwright::capture
