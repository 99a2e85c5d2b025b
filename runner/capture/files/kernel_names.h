// Names of kernels as a capture has them. Thread: any.
#pragma once

#include <string>

namespace warpwright::capture {

/// "void scale<float>(float*, int)" of a mangled name; other texts as they are.
std::string demangled(const std::string &symbol);

/// The kernel's name without namespaces, template arguments and parameters: "scale" of
/// "_ZN3one5scaleIfEEvPT_i".
std::string base_name(const std::string &symbol);

} // namespace warpwright::capture
