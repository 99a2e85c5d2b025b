// The texts that every exported module brings along: how a plan is called (runner/torch/python/direct_call*, as the runner's worker
// does it) and how its kernels are compiled and loaded (server/torch/runtime/). Thread: constants.
#pragma once

namespace warpwright::server {

extern const char *const kRuntimePython; ///< a module's text
extern const char *const kRuntimeCpp;    ///< of the extension that it compiles
/// What a variant in a C++ file brings along. @COUNT@ kernels, their @NAMES@ and @SHARED@ bytes, further @OPTIONS@ of NVRTC, the
/// @CAPABILITY@ of the GPU or 0 are filled in.
extern const char *const kRuntimeCppVariant;

} // namespace warpwright::server
