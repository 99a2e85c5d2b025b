// file: URIs and paths. Thread: any.
#pragma once

#include <string>

namespace warpwright::server::protocol {

/// The path of a file: URI, percent-decoded; for any other scheme the URI itself, which names an
/// unsaved buffer.
std::string path_of(const std::string &uri);
/// "file:///..." with everything but unreserved characters and '/' percent-encoded.
std::string uri_of(const std::string &path);

} // namespace warpwright::server::protocol
