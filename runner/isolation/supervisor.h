// The supervisor: the process that a worker leaves behind when it enters isolation. It starts the
// worker and the programs that the worker requests, each in an enclosure (guest.h), and freezes and
// ends them. It reports how the worker ended by ending the same way.
//
//   service -> supervisor -> init (process 1 of the enclosure) -> the process
//
// SIGTERM ends everything, and so does the supervisor's own end by any signal. The supervisor runs
// outside of isolation and does not trust requests: the available programs are defined before any
// of a worker's code runs. Each request is a JSON message on a SOCK_SEQPACKET socket. Each socket
// has one program at a time (runner/torch/python/candidate_starter.py is the other end):
//   {"start": NAME, "size": bytes, "again": bool, "opens_gpu": bool}, with descriptors
//     -> {"pid"} or {"error"}
//   {"freeze": bool}
//     -> {"by": "cgroup", "signals", or "" if freezing is not possible, "woke": bool}
//   {"end": bool, whether the next program gets its folder}
//     -> {"status"}: exit code, or minus the signal's number
// Thread: a process's only one.
#pragma once

#include "runner/isolation/guest.h"
#include "runner/isolation/isolation.h"

#include <functional>
#include <list>
#include <map>
#include <optional>

namespace warpwright::runner {

/// Environment variable with the descriptor over which a process may request programs.
inline constexpr const char *kStarterVariable = "WARPWRIGHT_STARTER";
/// Environment variable with the layers of a program that was started in its enclosure, as JSON.
inline constexpr const char *kEnclosedVariable = "WARPWRIGHT_ENCLOSED";

/// A program that is started in its own enclosure.
struct EnclosedProgram {
  std::vector<std::string> command; ///< found in PATH; "%SIZE%" is replaced by the request's size
  Sandbox sandbox;
  /// The program's descriptors 0, 1 and 3, which the supervisor closes after the start. Empty: the
  /// request's descriptors.
  std::vector<int> descriptors = {};
  bool may_ask = false;    ///< whether it may request further programs
  bool is_open = false;    ///< without isolation; for tests
  bool has_folder = false; ///< whether it gets its own folder in the worker's private directory
  /// Called in the supervisor before the program starts; may take a while.
  std::function<void(EnclosedProgram &)> prepare = nullptr;
};

class Supervisor {
public:
  explicit Supervisor(std::map<std::string, EnclosedProgram> programs) : programs_(std::move(programs)) {}

  /// Same as Isolation::enter(), with programs that the process may request.
  Result<Isolation> enclose(const Sandbox &sandbox);
  /// Runs a program in its enclosure and ends the same way; with isolation off, as a plain child
  /// process.
  [[noreturn]] void run(EnclosedProgram program);

private:
  friend Result<std::string> output_of(const EnclosedProgram &program);
  /// Enters the remaining layers, in the guest.
  static Isolation inside(const Sandbox &sandbox, bool on, std::vector<IsolationLayer> layers);
  /// Sets up the program's descriptors, closes all others, enters the remaining layers and executes
  /// the program. In the guest.
  [[noreturn]] static void become(const EnclosedProgram &program, bool on,
                                  std::vector<IsolationLayer> layers, std::vector<int> descriptors,
                                  int asker);
  /// A process that may request programs, with this end of its socket and its current program.
  struct Asker {
    int socket = -1;
    Guest guest;
    /// the program's folder; the folder of a program that ended, for the next one
    std::filesystem::path folder, kept;
    /// @return the program's wait status
    int end(bool keeps_folder);
    void forget_kept();
  };
  /// @return the other end of the socket
  int open_asker();
  [[noreturn]] void serve(Guest worker);
  void on_request(int socket);
  nlohmann::json answer(Asker &asker, const nlohmann::json &request, std::vector<int> &given);
  nlohmann::json start(Asker &asker, const nlohmann::json &request, std::vector<int> &given);

  std::map<std::string, EnclosedProgram> programs_;
  std::list<Asker> askers_;
};

/// Runs a program in an enclosure (without one if isolation is off) and returns its stdout. Its
/// stderr is this process's.
/// Errors: it could not be started, or its exit status is not 0.
Result<std::string> output_of(const EnclosedProgram &program);

} // namespace warpwright::runner
