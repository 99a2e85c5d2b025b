// OpenSSL contexts from files, and OpenSSL's reasons in plain words. No sockets here.
// Thread: any.
#pragma once

#include "runner/net/tls.h"

#include <openssl/ssl.h>

namespace warpwright::runner::net {

struct FreeContext {
  void operator()(SSL_CTX *context) const { SSL_CTX_free(context); }
};
using TlsContext = std::unique_ptr<SSL_CTX, FreeContext>;

/// TLS 1.3 only. Errors: a file that cannot be read, a key of another certificate.
Result<TlsContext> make_server_context(const TlsServerFiles &files);
/// TLS 1.3 only; the server's certificate is verified. Errors: a file that cannot be read.
Result<TlsContext> make_client_context(const TlsTarget &target);

/// The name or address that the server's certificate must be made out to. Errors: out of memory.
Result<void> expect_server_name(SSL *connection, const TlsTarget &target);

/// "expired on Jan  1 00:00:00 2020 GMT" when the server's own certificate is; else empty.
std::string certificate_trouble(SSL_CTX *context);

/// Why a handshake failed. @param reason the transport's or OpenSSL's own words
LinkFailure explain_handshake(SSL *connection, const TlsTarget &target, const std::string &reason);

} // namespace warpwright::runner::net
