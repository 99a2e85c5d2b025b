// A real OpenSSH server for a test: on a loopback port, with keys of its own, for the user who runs
// the test. The client is the real ssh program, with a configuration file of the test.
#pragma once

#include "support/process.h"
#include "tests/runner/remote_fixture.h"

namespace warpwright::runner::testing {

class RunningSshd {
public:
  /// @param folder for keys, configuration and what is put on the "other machine"
  /// @param environment of every session there, "NAME=value"
  /// @param more lines of sshd_config
  RunningSshd(const std::filesystem::path &folder, const std::vector<std::string> &environment,
              const std::string &more = "");
  ~RunningSshd();

  /// Ends all sessions of the server, as a broken connection does.
  void end_sessions();
  void stop();
  void start();
  std::string log() const;

private:
  std::vector<pid_t> sessions() const;

  std::filesystem::path folder_;
  std::string port_;
  std::optional<Process> process_;
};

/// Programs that come first on this process's PATH, for a scope. `ssh` among them is the real one
/// with the folder's configuration; the others are set by the test.
class ProgramsOnPath {
public:
  explicit ProgramsOnPath(const std::filesystem::path &folder);
  ~ProgramsOnPath();
  void add(const std::string &name, const std::string &shell_script);

private:
  std::filesystem::path folder_;
  std::string before_;
};

/// Ends the services that `warpwright-runner connect` left in the folder.
void end_services(const std::filesystem::path &temporary_folder);
/// Their logs.
std::string service_logs(const std::filesystem::path &temporary_folder);

} // namespace warpwright::runner::testing
