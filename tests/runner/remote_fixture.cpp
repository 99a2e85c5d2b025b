// Certificates by OpenSSL's API, processes by support/process.h, the relay with plain threads.
#include "tests/runner/remote_fixture.h"

#include <arpa/inet.h>
#include <atomic>
#include <fstream>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace warpwright::runner::testing {
namespace {

namespace fs = std::filesystem;

std::pair<std::string, std::string> split(const std::string &address) {
  const auto colon = address.rfind(':');
  return {address.substr(0, colon), address.substr(colon + 1)};
}

sockaddr_in to_sockaddr(const std::string &address) {
  const auto [host, port] = split(address);
  sockaddr_in socket_address{};
  socket_address.sin_family = AF_INET;
  socket_address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
  inet_pton(AF_INET, host.c_str(), &socket_address.sin_addr);
  return socket_address;
}

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using File = std::unique_ptr<FILE, decltype(&fclose)>;

File open_file(const fs::path &path, const char *mode) {
  File file(fopen(path.c_str(), mode), fclose);
  REQUIRE(file);
  return file;
}

void add_extension(X509 *certificate, int kind, const std::string &value) {
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  REQUIRE(extension);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

} // namespace

bool eventually(const std::function<bool()> &condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

TemporaryFolder::TemporaryFolder() {
  char name[] = "/tmp/warpwright-test-XXXXXX";
  path = mkdtemp(name);
}
TemporaryFolder::~TemporaryFolder() { fs::remove_all(path); }

void make_certificate(const fs::path &folder, const CertificateRequest &request) {
  const Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const Certificate certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), request.valid_from_s);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), request.valid_until_s);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME *name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char *>(request.name.c_str()), -1, -1,
                             0);
  if (!request.alternatives.empty())
    add_extension(certificate.get(), NID_subject_alt_name, request.alternatives);
  Certificate issuer(nullptr, X509_free);
  Key issuer_key(nullptr, EVP_PKEY_free);
  if (request.issuer.empty()) {
    add_extension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
    X509_set_issuer_name(certificate.get(), name);
  } else {
    const File pem = open_file(folder / (request.issuer + ".pem"), "r");
    issuer.reset(PEM_read_X509(pem.get(), nullptr, nullptr, nullptr));
    const File pem_key = open_file(folder / (request.issuer + ".key"), "r");
    issuer_key.reset(PEM_read_PrivateKey(pem_key.get(), nullptr, nullptr, nullptr));
    X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer.get()));
  }
  REQUIRE(X509_sign(certificate.get(), issuer_key ? issuer_key.get() : key.get(), EVP_sha256()) >
          0);
  const File out = open_file(folder / (request.name + ".pem"), "w");
  REQUIRE(PEM_write_X509(out.get(), certificate.get()) == 1);
  const File out_key = open_file(folder / (request.name + ".key"), "w");
  REQUIRE(PEM_write_PrivateKey(out_key.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) ==
          1);
  fs::permissions(folder / (request.name + ".key"), fs::perms::owner_read | fs::perms::owner_write);
}

void write_tokens(const fs::path &folder,
                  const std::vector<std::pair<std::string, std::string>> &tokens) {
  std::ofstream file(folder / "tokens");
  fs::permissions(folder / "tokens", fs::perms::owner_read | fs::perms::owner_write);
  file << "# who may\n";
  for (const auto &[owner, token] : tokens)
    file << owner << " " << token << "\n";
}

RunningService::RunningService(const fs::path &folder, const std::vector<std::string> &options,
                               const std::string &address,
                               const std::vector<std::string> &environment) {
  if (!fs::exists(folder / "server.pem"))
    make_certificate(folder, {});
  write_tokens(folder, {{"alice", kToken}, {"bob", kOtherToken}});
  std::vector<std::string> command = {WARPWRIGHT_BINARY_DIR "/warpwright-runner",
                                      "serve",
                                      "--listen",
                                      "tls://" + address,
                                      "--cert",
                                      folder / "server.pem",
                                      "--key",
                                      folder / "server.key",
                                      "--token-file",
                                      folder / "tokens"};
  command.insert(command.end(), options.begin(), options.end());
  auto process = Process::spawn(command, {.environment = environment, .pipe_stderr = true});
  REQUIRE(process.has_value());
  process_ = std::move(*process);
  reader_ = std::thread([this, errors = process_->release_stderr()] {
    char block[4096];
    for (ssize_t size; (size = read(errors, block, sizeof block)) > 0;) {
      const std::lock_guard lock(mutex_);
      log_.append(block, static_cast<std::size_t>(size));
    }
    close(errors);
  });
  const std::string announced = "listening on tls://";
  REQUIRE_MESSAGE(eventually([&] {
                    const std::string text = log();
                    const auto at = text.find(announced);
                    const auto end = text.find('\n', at);
                    if (at == std::string::npos || end == std::string::npos)
                      return false;
                    address_ = text.substr(at + announced.size(), end - at - announced.size());
                    return true;
                  }),
                  log());
}

RunningService::~RunningService() {
  process_.reset();
  reader_.join();
}

std::string RunningService::log() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

void RunningService::send(int signal) { process_->kill(signal); }

void RunningService::kill(int signal) {
  process_->kill(signal);
  process_->wait();
}

int connect_tcp(const std::string &address) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in target = to_sockaddr(address);
  if (connect(descriptor, reinterpret_cast<const sockaddr *>(&target), sizeof target) == 0)
    return descriptor;
  close(descriptor);
  return -1;
}

struct Relay::State {
  struct Pair {
    int client, server;
  };
  std::string target;
  int listener = -1;
  std::atomic<bool> down = false, stopping = false;
  std::mutex mutex;
  std::vector<Pair> pairs; ///< open
  std::thread thread;

  void end_pairs() {
    const std::lock_guard lock(mutex);
    for (const Pair &pair : std::exchange(pairs, {})) {
      const linger reset{1, 0}; // as a line that breaks: no farewell
      setsockopt(pair.client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
      setsockopt(pair.server, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
      close(pair.client);
      close(pair.server);
    }
  }

  void accept_one() {
    const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    const int server = down ? -1 : connect_tcp(target);
    const std::lock_guard lock(mutex);
    if (client >= 0 && server >= 0 && !down)
      return pairs.push_back({client, server});
    for (const int descriptor : {client, server})
      if (descriptor >= 0)
        close(descriptor);
  }

  /// @return false when one end has gone
  static bool pass(int from, int to) {
    char block[16'384];
    const ssize_t size = recv(from, block, sizeof block, MSG_DONTWAIT);
    if (size < 0)
      return errno == EAGAIN;
    return size > 0 && ::send(to, block, static_cast<std::size_t>(size), MSG_NOSIGNAL) == size;
  }

  void run() {
    while (!stopping) {
      std::vector<pollfd> watched = {{listener, POLLIN, 0}};
      {
        const std::lock_guard lock(mutex);
        for (const Pair &pair : pairs) {
          watched.push_back({pair.client, POLLIN, 0});
          watched.push_back({pair.server, POLLIN, 0});
        }
      }
      poll(watched.data(), watched.size(), 20);
      if (watched[0].revents)
        accept_one();
      const std::lock_guard lock(mutex);
      for (auto pair = pairs.begin(); pair != pairs.end();)
        if (pass(pair->client, pair->server) && pass(pair->server, pair->client)) {
          ++pair;
        } else {
          close(pair->client);
          close(pair->server);
          pair = pairs.erase(pair);
        }
    }
  }
};

Relay::Relay(const std::string &target) : state_(std::make_unique<State>()) {
  state_->target = target;
  state_->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in any = to_sockaddr("127.0.0.1:0");
  REQUIRE(bind(state_->listener, reinterpret_cast<const sockaddr *>(&any), sizeof any) == 0);
  REQUIRE(listen(state_->listener, 64) == 0);
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}
Relay::~Relay() {
  state_->stopping = true;
  state_->thread.join();
  state_->end_pairs();
  close(state_->listener);
}
std::string Relay::address() const {
  sockaddr_in bound{};
  socklen_t size = sizeof bound;
  getsockname(state_->listener, reinterpret_cast<sockaddr *>(&bound), &size);
  return "127.0.0.1:" + std::to_string(ntohs(bound.sin_port));
}
void Relay::cut(bool stays_down) {
  state_->down = stays_down;
  state_->end_pairs();
}
void Relay::restore() { state_->down = false; }

struct RawTls::Handles {
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{SSL_CTX_new(TLS_client_method()),
                                                            SSL_CTX_free};
  std::unique_ptr<SSL, decltype(&SSL_free)> connection{nullptr, SSL_free};
  int descriptor = -1;
};

RawTls::RawTls(const std::string &address, int max_version)
    : handles_(std::make_unique<Handles>()) {
  if (max_version)
    SSL_CTX_set_max_proto_version(handles_->context.get(), max_version);
  handles_->descriptor = connect_tcp(address);
  REQUIRE(handles_->descriptor >= 0);
  const timeval limit{std::chrono::seconds(kPatience).count(), 0};
  setsockopt(handles_->descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  handles_->connection.reset(SSL_new(handles_->context.get()));
  SSL_set_fd(handles_->connection.get(), handles_->descriptor);
  connected_ = SSL_connect(handles_->connection.get()) == 1;
}
RawTls::~RawTls() { close(handles_->descriptor); }

void RawTls::write(const std::string &bytes) {
  // A service that has closed already is found out by reading.
  SSL_write(handles_->connection.get(), bytes.data(), static_cast<int>(bytes.size()));
}
void RawTls::send(const std::string &body) {
  write("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
}
std::string RawTls::read_all() { return read_until(std::string(1, '\0')); }
std::string RawTls::read_until(const std::string &part) {
  std::string text;
  char block[4096];
  while (text.find(part) == std::string::npos) {
    errno = 0;
    const int size = SSL_read(handles_->connection.get(), block, sizeof block);
    if (size <= 0) {
      ended_ = errno != EAGAIN;
      break;
    }
    text.append(block, static_cast<std::size_t>(size));
  }
  return text;
}

VerifyOptions fake_options(int timeout_ms) {
  VerifyOptions options;
  options.device = "cpu"; // the fake is meant, on machines with a GPU too
  options.timeout = std::chrono::milliseconds(timeout_ms);
  options.measure_budget = std::chrono::milliseconds(100);
  return options;
}

std::string url_of(const std::string &address, const fs::path &folder, const std::string &token) {
  return "tls://" + token + "@" + address + "?ca=" + (folder / "server.pem").string();
}

} // namespace warpwright::runner::testing
