// The hash by which a measurement is known to be of the code as it stands. Editor and command line
// write the same. Thread: any.
#pragma once

#include <string>
#include <string_view>

namespace warpwright::server {

/// sha256 of a device source without its #line directives, which change when lines above it do. The
/// ledger's `source_hash` is this of the kernel's slice.
std::string source_hash(std::string_view device_source);

} // namespace warpwright::server
