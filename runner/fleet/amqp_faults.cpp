#include "runner/fleet/amqp_faults.h"

#include <amqp_ssl_socket.h>
#include <openssl/ssl.h>

namespace warpwright::runner::fleet {
namespace {

LineFault refused(std::string message, std::string remedy = {}) {
  return {{std::move(message), std::move(remedy)}, true};
}

/// Error with the broker's own text: "530 NOT_ALLOWED - vhost x not found".
LineFault closed_by_broker(int code, const amqp_bytes_t &text, const std::string &attempt) {
  const std::string said(static_cast<const char *>(text.bytes), text.len);
  const std::string message = attempt + ": " + said;
  switch (code) {
  case AMQP_ACCESS_REFUSED:
    return refused(message, "Check the user, the password and the user's permissions");
  case AMQP_NOT_ALLOWED:
    return refused(message, "Check the virtual host in the URL and the user's permissions on it");
  case AMQP_PRECONDITION_FAILED:
    if (said.find("inequivalent") != std::string::npos ||
        said.find("invalid arg") != std::string::npos)
      return refused(message,
                     "The queue exists with other settings. Let it run empty and delete it; "
                     "the fleet needs RabbitMQ 3.10 or newer");
    return {{message, ""}};
  case AMQP_INTERNAL_ERROR:
    return {.error = {message, "See the broker's log"}, .no_service = true};
  case AMQP_RESOURCE_LOCKED:
    return {{message, "Another client uses this session; end it, or choose another name"}};
  default:
    return {{message, ""}};
  }
}

} // namespace

LineResult<void> check_status(int code, const std::string &attempt, const std::string &place) {
  const std::string reason = amqp_error_string2(code);
  switch (code) {
  case AMQP_STATUS_OK:
    return {};
  case AMQP_STATUS_SSL_PEER_VERIFY_FAILED:
    return std::unexpected(refused(attempt + ": its certificate is signed by no trusted authority",
                                   "Name the authority's certificate: ?ca=FILE"));
  case AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED:
    return std::unexpected(refused(attempt + ": its certificate is for another host",
                                   "Write the host as the certificate has it, not " + place));
  case AMQP_STATUS_SSL_CONNECTION_FAILED:
    return std::unexpected(LineFault{{attempt + ": the TLS handshake failed",
                                      "Is this port the broker's TLS port, and does it ask for a "
                                      "client certificate (?cert=FILE&key=FILE)?"}});
  case AMQP_STATUS_HOSTNAME_RESOLUTION_FAILED:
    return std::unexpected(LineFault{{attempt + ": its name cannot be resolved", ""}});
  case AMQP_STATUS_TIMEOUT:
    return std::unexpected(
        LineFault{.error = {attempt + ": no answer in time", ""}, .no_service = true});
  case AMQP_STATUS_SOCKET_ERROR:
    return std::unexpected(LineFault{{attempt + ": the connection was refused or broke",
                                      "Is the broker running, and reachable from here?"}});
  default:
    return std::unexpected(LineFault{{attempt + ": " + reason, ""}});
  }
}

LineResult<void> check_reply(const amqp_rpc_reply_t &reply, const std::string &attempt,
                             const std::string &place) {
  switch (reply.reply_type) {
  case AMQP_RESPONSE_NORMAL:
    return {};
  case AMQP_RESPONSE_LIBRARY_EXCEPTION:
    return check_status(reply.library_error, attempt, place);
  case AMQP_RESPONSE_SERVER_EXCEPTION:
    TRY(check_close(reply.reply, attempt));
    [[fallthrough]];
  default:
    return std::unexpected(LineFault{{attempt + ": the broker gave no answer", ""}});
  }
}

LineResult<void> check_close(const amqp_method_t &method, const std::string &attempt) {
  switch (method.id) {
  case AMQP_CONNECTION_CLOSE_METHOD: {
    const auto *close = static_cast<const amqp_connection_close_t *>(method.decoded);
    return std::unexpected(closed_by_broker(close->reply_code, close->reply_text, attempt));
  }
  case AMQP_CHANNEL_CLOSE_METHOD: {
    const auto *close = static_cast<const amqp_channel_close_t *>(method.decoded);
    return std::unexpected(closed_by_broker(close->reply_code, close->reply_text, attempt));
  }
  case AMQP_BASIC_CANCEL_METHOD:
    return std::unexpected(
        LineFault{{attempt + ": the broker ended a consumer: its queue is gone", ""}});
  default:
    return {};
  }
}

LineResult<void> set_certificates(amqp_socket_t *socket, const BrokerAddress &address) {
  if (address.ca_path.empty()) {
    auto *context = static_cast<SSL_CTX *>(amqp_ssl_socket_get_context(socket));
    if (SSL_CTX_set_default_verify_paths(context) != 1)
      return std::unexpected(refused("the system has no certificates of authorities to trust",
                                     "Name the broker's: ?ca=FILE"));
  } else if (amqp_ssl_socket_set_cacert(socket, address.ca_path.c_str()) != AMQP_STATUS_OK)
    return std::unexpected(refused("cannot read the authority's certificate " + address.ca_path,
                                   "ca= names a PEM file that this user may read"));
  if (!address.cert_path.empty() &&
      amqp_ssl_socket_set_key(socket, address.cert_path.c_str(), address.key_path.c_str()) !=
          AMQP_STATUS_OK)
    return std::unexpected(refused("cannot use the certificate " + address.cert_path +
                                       " with the key " + address.key_path,
                                   "cert= and key= name PEM files that belong together"));
  return {};
}

} // namespace warpwright::runner::fleet
