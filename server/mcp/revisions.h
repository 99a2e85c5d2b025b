// Revisions of the Model Context Protocol, and the metadata of its requests.
//
// Since 2026-07-28 each request carries its revision and the client's capabilities (the modern
// era). Before, `initialize` agreed on them for a connection (the legacy era). Both are served.
// https://modelcontextprotocol.io/specification/2026-07-28
// Thread: any.
#pragma once

#include "server/mcp/tool.h"
#include "support/rpc/connection.h"

namespace warpwright::mcp {

inline constexpr char kModernRevision[] = "2026-07-28";
/// Newest first; the first one is offered to clients that ask for another.
inline constexpr const char *kLegacyRevisions[] = {"2025-11-25", "2025-06-18", "2025-03-26"};

inline constexpr char kRevisionKey[] = "io.modelcontextprotocol/protocolVersion";
inline constexpr char kCapabilitiesKey[] = "io.modelcontextprotocol/clientCapabilities";
inline constexpr char kServerKey[] = "io.modelcontextprotocol/serverInfo";
inline constexpr char kSubscriptionKey[] = "io.modelcontextprotocol/subscriptionId";

enum McpErrorCode {
  kHeaderMismatch = -32020,
  kUnsupportedRevision = -32022,
};

bool is_legacy_revision(const std::string &revision);

/// The member `_meta` of a request's parameters; an empty object if there is none.
Json meta_of(const Json &params);
/// Whether a request carries its revision.
bool is_modern(const Json &params);
/// The error of a modern request with wrong metadata; nullopt: it is right.
std::optional<rpc::RpcError> metadata_error(const Json &params);
rpc::RpcError unsupported_revision(const std::string &requested);

/// Whether a client with these capabilities shows forms to its user.
bool can_elicit(const Json &capabilities);

/// Name and version of this server.
Json server_info();
/// How models use the server, in a few sentences.
std::string instructions();

} // namespace warpwright::mcp
