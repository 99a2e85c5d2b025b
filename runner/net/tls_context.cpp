// OpenSSL contexts. Every error names the file or certificate concerned and what to do.
#include "runner/net/tls_context.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <unistd.h>

namespace warpwright::runner::net {
namespace {

/// Usual paths of the system's authorities, for systems without OpenSSL's built-in path (Debian's).
constexpr const char *kSystemBundles[] = {"/etc/ssl/certs/ca-certificates.crt",
                                          "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"};

std::string openssl_reason() {
  const unsigned long code = ERR_peek_error(); // the first error is nearest to the cause
  ERR_clear_error();
  const char *reason = ERR_reason_error_string(code);
  return reason ? reason : "no reason given";
}

Result<void> check_readable(const std::string &path, const std::string &what) {
  if (access(path.c_str(), R_OK) == 0)
    return {};
  return fail("cannot read the " + what + " " + path, "Name a PEM file that this user may read");
}

Result<TlsContext> make_context(const SSL_METHOD *method) {
  TlsContext context(SSL_CTX_new(method));
  if (!context)
    return fail("OpenSSL gives no context: " + openssl_reason());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  return context;
}

Result<void> load_identity(SSL_CTX *context, const std::string &certificate,
                           const std::string &key) {
  for (const auto &[path, what] : {std::pair{certificate, "certificate"}, std::pair{key, "key"}})
    TRY(check_readable(path, what));
  if (SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1)
    return fail(certificate + " holds no certificate in PEM: " + openssl_reason());
  if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1)
    return fail("the key " + key + " cannot be used: " + openssl_reason(),
                "It must be the PEM key of " + certificate);
  if (SSL_CTX_check_private_key(context) != 1)
    return fail("the key " + key + " is not that of " + certificate + ": " + openssl_reason());
  return {};
}

Result<void> load_authorities(SSL_CTX *context, const std::string &path) {
  TRY(check_readable(path, "authority's certificate"));
  if (SSL_CTX_load_verify_locations(context, path.c_str(), nullptr) != 1)
    return fail(path + " holds no certificate in PEM: " + openssl_reason());
  return {};
}

void load_system_authorities(SSL_CTX *context) {
  SSL_CTX_set_default_verify_paths(context);
  for (const char *bundle : kSystemBundles)
    if (access(bundle, R_OK) == 0 && SSL_CTX_load_verify_locations(context, bundle, nullptr) == 1)
      break;
  ERR_clear_error(); // without authorities, every certificate is refused later with a clear error
}

bool is_address(const std::string &name) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, name.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

std::string wanted_name(const TlsTarget &target) {
  return target.server_name.empty() ? target.host : target.server_name;
}

std::string time_text(const ASN1_TIME *time) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), BIO_free);
  char text[64] = "";
  if (memory && ASN1_TIME_print(memory.get(), time) == 1)
    BIO_gets(memory.get(), text, sizeof text);
  return text;
}

std::string address_text(const ASN1_OCTET_STRING *address) {
  char text[INET6_ADDRSTRLEN] = "";
  const int family = ASN1_STRING_length(address) == 4 ? AF_INET : AF_INET6;
  inet_ntop(family, ASN1_STRING_get0_data(address), text, sizeof text);
  return text;
}

/// The names and addresses of a certificate, comma-separated.
std::string certified_names(X509 *certificate) {
  std::string names;
  auto *list = static_cast<GENERAL_NAMES *>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(list); ++i) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(list, i);
    std::string text;
    if (name->type == GEN_DNS)
      text.assign(reinterpret_cast<const char *>(ASN1_STRING_get0_data(name->d.dNSName)),
                  static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
    else if (name->type == GEN_IPADD)
      text = address_text(name->d.iPAddress);
    if (!text.empty())
      names += (names.empty() ? "" : ", ") + text;
  }
  GENERAL_NAMES_free(list);
  return names.empty() ? "no host (it has no subjectAltName)" : names;
}

/// Index of the connection's slot for the refused certificate, which OpenSSL does not keep.
int refused_certificate_index() {
  static const int index =
      SSL_get_ex_new_index(0, nullptr, nullptr, nullptr,
                           [](void *, void *certificate, CRYPTO_EX_DATA *, int, long, void *) {
                             X509_free(static_cast<X509 *>(certificate));
                           });
  return index;
}

/// OpenSSL's verify callback; keeps the refused certificate and does not change the decision.
int keep_refused(int accepted, X509_STORE_CTX *store) {
  auto *connection =
      static_cast<SSL *>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  X509 *certificate = X509_STORE_CTX_get_current_cert(store);
  if (!accepted && connection && certificate &&
      !SSL_get_ex_data(connection, refused_certificate_index()) && X509_up_ref(certificate) == 1)
    SSL_set_ex_data(connection, refused_certificate_index(), certificate);
  return accepted;
}

Error explain_verification(long result, X509 *certificate, const TlsTarget &target) {
  const std::string whose = "the certificate of " + target.address();
  switch (result) {
  case X509_V_ERR_CERT_HAS_EXPIRED:
    return {whose + " expired on " +
                (certificate ? time_text(X509_get0_notAfter(certificate)) : "an unknown date"),
            "Make a new one on the runner's machine and start the runner with it; if it has not, "
            "this machine's clock is wrong"};
  case X509_V_ERR_CERT_NOT_YET_VALID:
    return {whose + " is not valid before " +
                (certificate ? time_text(X509_get0_notBefore(certificate)) : "an unknown date"),
            "Compare the clocks of both machines"};
  case X509_V_ERR_HOSTNAME_MISMATCH:
  case X509_V_ERR_IP_ADDRESS_MISMATCH:
    return {whose + " is made out to " +
                (certificate ? certified_names(certificate) : "somebody else") + ", not to " +
                wanted_name(target),
            "Connect by a name that it has, or add ?server-name=NAME if you know that this is the "
            "machine you mean"};
  case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
  case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
  case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    return {whose + " is not signed by an authority that " +
                (target.ca.empty() ? "this machine trusts" : target.ca + " names"),
            "Copy the certificate that the runner was started with to this machine, and add "
            "?ca=FILE to the URL or set WARPWRIGHT_RUNNER_CA"};
  default:
    return {whose + " is refused: " + X509_verify_cert_error_string(result), ""};
  }
}

} // namespace

Result<TlsContext> make_server_context(const TlsServerFiles &files) {
  auto context = make_context(TLS_server_method());
  if (!context)
    return context;
  // With session tickets, a client could resume after its certificate was withdrawn.
  SSL_CTX_set_num_tickets(context->get(), 0);
  SSL_CTX_set_session_cache_mode(context->get(), SSL_SESS_CACHE_OFF);
  TRY(load_identity(context->get(), files.certificate, files.key));
  if (files.client_ca.empty())
    return context;
  TRY(load_authorities(context->get(), files.client_ca));
  SSL_CTX_set_client_CA_list(context->get(), SSL_load_client_CA_file(files.client_ca.c_str()));
  SSL_CTX_set_verify(context->get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return context;
}

Result<TlsContext> make_client_context(const TlsTarget &target) {
  auto context = make_context(TLS_client_method());
  if (!context)
    return context;
  SSL_CTX_set_verify(context->get(), SSL_VERIFY_PEER, keep_refused);
  if (target.ca.empty())
    load_system_authorities(context->get());
  else if (auto loaded = load_authorities(context->get(), target.ca); !loaded)
    return std::unexpected(loaded.error());
  if (target.certificate.empty())
    return context;
  TRY(load_identity(context->get(), target.certificate, target.key));
  return context;
}

Result<void> expect_server_name(SSL *connection, const TlsTarget &target) {
  const std::string name = wanted_name(target);
  X509_VERIFY_PARAM *parameters = SSL_get0_param(connection);
  const bool set = is_address(name)
                       ? X509_VERIFY_PARAM_set1_ip_asc(parameters, name.c_str()) == 1
                       : SSL_set_tlsext_host_name(connection, name.c_str()) == 1 &&
                             X509_VERIFY_PARAM_set1_host(parameters, name.c_str(), 0) == 1;
  return set ? Result<void>{} : fail("the server name " + name + " cannot be used");
}

std::string certificate_trouble(SSL_CTX *context) {
  const X509 *certificate = SSL_CTX_get0_certificate(context);
  if (!certificate)
    return "";
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0)
    return "expired on " + time_text(X509_get0_notAfter(certificate));
  if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0)
    return "is not valid before " + time_text(X509_get0_notBefore(certificate));
  return "";
}

LinkFailure explain_handshake(SSL *connection, const TlsTarget &target, const std::string &reason) {
  const long result = SSL_get_verify_result(connection);
  if (result != X509_V_OK)
    return {explain_verification(
                result,
                static_cast<X509 *>(SSL_get_ex_data(connection, refused_certificate_index())),
                target),
            true};
  if (reason.find("wrong version number") != std::string::npos ||
      reason.find("packet length too long") != std::string::npos)
    return {{target.address() + " does not speak TLS", "Is this the runner's port?"}, true};
  if (reason.find("protocol") != std::string::npos)
    return {{target.address() + " speaks no TLS 1.3: " + reason, ""}, true};
  return {{"the TLS handshake with " + target.address() + " failed: " + reason,
           "See what the runner logged"},
          false};
}

} // namespace warpwright::runner::net
