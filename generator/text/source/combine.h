// How a reduction combines two values, as C++ text. Thread: pure functions.
#pragma once

#include <string>

namespace warpwright::generator {

enum class Combine { Sum, Product, Maximum, Minimum };

/// `a` and `b` combined, for values of a C type ("float", "int", ...).
std::string combine_text(Combine combine, const std::string &type, const std::string &a,
                         const std::string &b);
/// A constant that changes nothing when combined with.
std::string identity_text(Combine combine, const std::string &type);

} // namespace warpwright::generator
