// What the tests of remote runners share: certificates made on the spot, the real runner listening on
// a TLS port, a TCP relay that can be cut, and a bare TLS client that may misbehave.
#pragma once

#include "runner/connect/connect.h"
#include "support/process.h"
#include "tests/runner/connect_to.h"
#include "tests/runner/tasks.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

namespace warpwright::runner::testing {

inline constexpr auto kPatience = std::chrono::seconds(60);

/// Waits, without a fixed sleep, until `condition` holds. @return whether it did in time
bool eventually(const std::function<bool()> &condition);

struct TemporaryFolder {
  std::filesystem::path path;
  TemporaryFolder();
  ~TemporaryFolder();
};

struct CertificateRequest {
  std::string name = "server";                             ///< NAME.pem and NAME.key
  std::string alternatives = "DNS:localhost,IP:127.0.0.1"; ///< subjectAltName
  long valid_from_s = -3600, valid_until_s = 86'400;       ///< from now
  std::string issuer; ///< another's name; empty: signed by itself
};
/// Writes the certificate and its key into `folder`.
void make_certificate(const std::filesystem::path &folder, const CertificateRequest &request);

inline constexpr const char *kToken = "00112233445566778899aabbccddeeff";
inline constexpr const char *kOtherToken = "ffeeddccbbaa99887766554433221100";

/// The folder's tokens file.
void write_tokens(const std::filesystem::path &folder,
                  const std::vector<std::pair<std::string, std::string>> &tokens);

/// `warpwright-runner serve`, with the fake worker in the CPU worker's place unless the environment names another.
class RunningService {
public:
  /// @param options after `serve`; port 0 and the folder's server.pem, server.key and tokens unless
  /// they say otherwise
  explicit RunningService(const std::filesystem::path &folder,
                          const std::vector<std::string> &options = {},
                          const std::string &address = "127.0.0.1:0",
                          const std::vector<std::string> &environment = {
                              "WARPWRIGHT_CPU_WORKER=" WARPWRIGHT_TEST_DIR "/runner_fake_worker"});
  ~RunningService();

  std::string address() const { return address_; } ///< "127.0.0.1:PORT"
  pid_t pid() const { return process_->pid(); }
  /// What it wrote to stderr so far.
  std::string log() const;
  void kill(int signal);
  /// The same without waiting for its end.
  void send(int signal);

private:
  std::optional<Process> process_;
  std::string address_;
  mutable std::mutex mutex_;
  std::string log_;
  std::thread reader_;
};

/// Passes connections on to `target`, until it is cut.
class Relay {
public:
  explicit Relay(const std::string &target);
  ~Relay();
  std::string address() const;
  /// Ends all connections. @param stays_down whether new ones are refused until restore()
  void cut(bool stays_down);
  void restore();

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A TLS client that writes what it is told.
class RawTls {
public:
  /// @param max_version as TLS1_2_VERSION; 0: the newest
  explicit RawTls(const std::string &address, int max_version = 0);
  ~RawTls();
  bool is_connected() const { return connected_; }
  void write(const std::string &bytes);
  /// "Content-Length: N" and the body.
  void send(const std::string &body);
  /// Everything until the service ends the connection, or the patience is over.
  std::string read_all();
  /// Until what was read contains `part`, or the connection ends.
  std::string read_until(const std::string &part);
  bool ended() const { return ended_; } ///< the service closed it

private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
  bool connected_ = false, ended_ = false;
};

/// A plain TCP connection to "HOST:PORT". Owned by the caller.
int connect_tcp(const std::string &address);

VerifyOptions fake_options(int timeout_ms = 60'000);

/// tls:// with the token and the folder's server.pem as authority.
std::string url_of(const std::string &address, const std::filesystem::path &folder,
                   const std::string &token = kToken);

} // namespace warpwright::runner::testing
