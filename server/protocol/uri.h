// URIs and paths. Thread: any.
#pragma once

#include <string>

namespace warpwright::server::protocol {

/// The path of a file: URI, percent-decoded; for any other scheme the URI itself, which names an
/// unsaved buffer.
std::string path_of(const std::string &uri);
/// The text with everything but unreserved characters, '/' and ':' percent-encoded, and back.
std::string percent_encoded(const std::string &text);
std::string percent_decoded(const std::string &text);

/// "file:///..." with everything but unreserved characters and '/' percent-encoded.
std::string uri_of(const std::string &path);

} // namespace warpwright::server::protocol
