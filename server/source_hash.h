// Hash that identifies the code of a measurement. Editor and command line write the same hash.
// Thread: any.
#pragma once

#include <string>
#include <string_view>

namespace warpwright::server {

/// SHA-256 of a device source without its #line directives, which change with the lines above the
/// kernel. The ledger's `source_hash` is the hash of the kernel's slice.
std::string source_hash(std::string_view device_source);

} // namespace warpwright::server
