// Compiles device source with the real NVRTC where its library is found, so that tests of the
// slicer and of the fp64 twin do not have to trust themselves. Needs no GPU. Tests say "skipped"
// when there is no library. Leaves out everything but "does it compile". Thread: any.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpwright::tests {

/// The log of a compilation that failed, empty when it succeeded; nullopt without NVRTC.
/// @param names name expressions that must resolve to kernels: "reduce<float, 256>"
/// @param architecture "sm_90", or "sm_90a" for instructions of one generation only
/// @param ptx set to the PTX of what compiles
std::optional<std::string> nvrtc_errors(const std::string &source,
                                        const std::vector<std::string> &names = {},
                                        const std::string &architecture = "sm_90",
                                        std::string *ptx = nullptr);

} // namespace warpwright::tests
