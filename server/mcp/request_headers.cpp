#include "server/mcp/request_headers.h"

#include <openssl/evp.h>

namespace warpwright::mcp {
namespace {

constexpr std::string_view kBegin = "=?base64?", kEnd = "?=";

/// "127.0.0.1" of "127.0.0.1:8765", "::1" of "[::1]:8765".
std::string host_of(const std::string &place) {
  if (place.starts_with('['))
    return place.substr(1, place.find(']') - 1);
  return place.substr(0, place.find(':'));
}

bool is_local_name(const std::string &name) {
  return name == "localhost" || name == "127.0.0.1" || name == "::1";
}

rpc::RpcError mismatch(const std::string &message) {
  return {kHeaderMismatch, "Header mismatch: " + message, nullptr};
}

/// The member that the header Mcp-Name repeats; empty: none.
std::string named_member(const std::string &method, const Json &params) {
  const char *member = method == "tools/call" || method == "prompts/get" ? "name"
                       : method == "resources/read"                      ? "uri"
                                                                         : nullptr;
  if (!member || !params.is_object() || !params.value(member, Json()).is_string())
    return {};
  return params[member];
}

} // namespace

bool is_local_host(const std::string &host) { return is_local_name(host_of(host)); }

bool is_local_origin(const std::string &origin) {
  if (origin.empty())
    return true;
  const std::size_t begin = origin.find("://");
  return begin != std::string::npos && is_local_name(host_of(origin.substr(begin + 3)));
}

std::optional<std::string> decoded_header(const std::string &value) {
  if (!value.starts_with(kBegin) || !value.ends_with(kEnd) ||
      value.size() < kBegin.size() + kEnd.size())
    return value;
  const std::string code = value.substr(kBegin.size(), value.size() - kBegin.size() - kEnd.size());
  std::string text(code.size() / 4 * 3 + 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char *>(text.data()),
                                   reinterpret_cast<const unsigned char *>(code.data()),
                                   static_cast<int>(code.size()));
  if (size < 0)
    return std::nullopt;
  const std::size_t padding = code.ends_with("==") ? 2 : code.ends_with("=") ? 1 : 0;
  text.resize(static_cast<std::size_t>(size) - padding);
  return text;
}

std::optional<rpc::RpcError> header_error(const http::Request &request, const std::string &method,
                                          const Json &params) {
  const std::string &revision = request.header("mcp-protocol-version");
  if (!is_modern(params)) {
    if (revision.empty() || is_legacy_revision(revision))
      return std::nullopt;
    if (revision != kModernRevision)
      return unsupported_revision(revision);
    return rpc::RpcError{rpc::kInvalidParams, "_meta must have " + std::string(kRevisionKey), {}};
  }
  if (const Json wanted = meta_of(params)[kRevisionKey]; wanted != revision)
    return mismatch("MCP-Protocol-Version is '" + revision + "', and the body has " + wanted.dump());
  if (request.header("mcp-method") != method)
    return mismatch("Mcp-Method is '" + request.header("mcp-method") + "', and the body has '" +
                    method + "'");
  const std::string name = named_member(method, params);
  const auto shown = decoded_header(request.header("mcp-name"));
  if (!name.empty() && shown != name)
    return mismatch("Mcp-Name does not name '" + name + "'");
  return std::nullopt;
}

} // namespace warpwright::mcp
