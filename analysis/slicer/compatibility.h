// What device code may use from the standard library, in the few lines that NVRTC needs to accept
// it.
//
// NVRTC has no <cstdint>, <cfloat>, <limits> or <algorithm>. A slice that uses a name of theirs
// gets a small declaration of it; a name that is not listed here is an error of the slicer, which
// says so. Thread: any.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace warpwright::analysis::slicer {

/// Declarations for those of `identifiers` (as used at all) and `std_names` (as used after `std::`)
/// that need one, less those in `defined`, which the user's own code declares.
std::string compatibility_declarations(const std::set<std::string> &identifiers,
                                       const std::set<std::string> &std_names,
                                       const std::set<std::string> &defined);

/// Whether `std::name` works in a slice.
bool is_supported_std(std::string_view name);

} // namespace warpwright::analysis::slicer
