// OpenSSL contexts from files, and OpenSSL's errors in plain words. No sockets here.
// Thread: any.
#pragma once

#include "runner/net/tls.h"

#include <openssl/ssl.h>

namespace warpwright::runner::net {

struct FreeContext {
  void operator()(SSL_CTX *context) const { SSL_CTX_free(context); }
};
using TlsContext = std::unique_ptr<SSL_CTX, FreeContext>;

/// TLS 1.3 only. Errors: a file that cannot be read; a key that does not belong to the certificate.
Result<TlsContext> make_server_context(const TlsServerFiles &files);
/// TLS 1.3 only; the server's certificate is verified. Errors: a file that cannot be read.
Result<TlsContext> make_client_context(const TlsTarget &target);

/// Sets the name or address that the server's certificate must have. Errors: OpenSSL rejects the
/// name.
Result<void> expect_server_name(SSL *connection, const TlsTarget &target);

/// Why clients will refuse the context's own certificate: "expired on Jan  1 00:00:00 2020 GMT" or
/// "is not valid before ..."; else empty.
std::string certificate_trouble(SSL_CTX *context);

/// Explains a failed handshake.
/// @param reason the error text of the transport or of OpenSSL
LinkFailure explain_handshake(SSL *connection, const TlsTarget &target, const std::string &reason);

} // namespace warpwright::runner::net
