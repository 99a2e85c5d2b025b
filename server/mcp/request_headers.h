// Headers of the streamable HTTP transport: whether a request is from this machine, and whether its
// headers agree with its body. Thread: any; pure functions.
#pragma once

#include "server/mcp/revisions.h"
#include "support/http/http_server.h"

namespace warpwright::mcp {

/// Whether the header Host names this machine, so that no name of another site leads here.
bool is_local_host(const std::string &host);
/// Whether a page with this Origin may send requests: none, or one of this machine.
bool is_local_origin(const std::string &origin);

/// Text of a header's value, which clients encode as "=?base64?...?=" if it is not plain ASCII.
/// nullopt: a broken encoding.
std::optional<std::string> decoded_header(const std::string &value);

/// The error of a request whose headers lack what its revision wants, or contradict its body.
std::optional<rpc::RpcError> header_error(const http::Request &request, const std::string &method,
                                          const Json &params);

} // namespace warpwright::mcp
