// Binary operations of reductions, as C++ text.
#pragma once

#include <optional>
#include <string>

namespace warpwright::source {

enum class Combine { Sum, Product, Maximum, Minimum, And, Or, Xor }; ///< And to Xor: of bits

/// Maximum or minimum, for the name of a function that computes it ("fmaxf", "min"); else nullopt.
std::optional<Combine> combine_of_function(const std::string &name);
/// `a` and `b` combined, for values of a C type ("float", "int", ...).
std::string combine_text(Combine combine, const std::string &type, const std::string &a,
                         const std::string &b);
/// The operation's neutral element: combining a value with this constant does not change the value.
std::string identity_text(Combine combine, const std::string &type);
/// True if templates may combine values of a C type by warp shuffles.
bool is_shuffled(const std::string &type);

} // namespace warpwright::source
