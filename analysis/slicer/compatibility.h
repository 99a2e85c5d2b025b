// Standard-library names in device code, with the declarations that NVRTC needs to accept them.
//
// NVRTC has no <cstdint>, <cfloat>, <limits> or <algorithm>. A slice that uses one of their names
// gets a small declaration of it, or includes libcu++'s header and takes the name from there. A std::
// name that is not listed here is an error of the slicer.
// Thread: any.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace warpwright::analysis::slicer {

/// Declarations for the names in `identifiers` (used anywhere) and `std_names` (used after `std::`)
/// that need one. Names in `defined` are left out, because the user's code declares them.
std::string compatibility_declarations(const std::set<std::string> &identifiers,
                                       const std::set<std::string> &std_names,
                                       const std::set<std::string> &defined);

/// Includes for what a slice uses of <cub/cub.cuh>, which NVRTC cannot compile because it also has code for the host.
/// Empty: it uses nothing of it.
std::string cub_includes(const std::set<std::string> &identifiers);

/// Whether `std::name` is available in a slice.
bool is_supported_std(std::string_view name);

} // namespace warpwright::analysis::slicer
