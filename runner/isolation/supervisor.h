// The process that a worker leaves behind when it enters isolation: it starts the worker and whatever
// the worker may ask for, each in an enclosure (guest.h), freezes and ends them, and tells the service
// how the worker ended by ending the same way.
//
//   service -> supervisor -> init (process 1 of the enclosure) -> the process
//
// SIGTERM ends everything, as does the supervisor's own end by any signal. It runs outside of
// isolation and believes nothing that it is asked: which programs there are is said before any of a
// worker's code runs. Requests are JSON, a message of a SOCK_SEQPACKET socket each; who asks has one
// program at a time (runner/torch/python/candidate_starter.py is the other end):
//   {"start": NAME, "size": bytes, "again": bool, "opens_gpu": bool}, with descriptors
//                                                           -> {"pid"} or {"error"}
//   {"freeze": bool}          -> {"by": "cgroup", "signals" or "" where nothing can, "woke": bool}
//   {"end": bool whether its folder is kept for the next}   -> {"status"}: exit code, or minus a signal
// Thread: a process's only one.
#pragma once

#include "runner/isolation/guest.h"
#include "runner/isolation/isolation.h"

#include <functional>
#include <list>
#include <map>
#include <optional>

namespace warpwright::runner {

/// In the environment of a process that may ask its supervisor for programs: a descriptor.
inline constexpr const char *kStarterVariable = "WARPWRIGHT_STARTER";
/// In the environment of a program that was started in its enclosure: its layers, as JSON.
inline constexpr const char *kEnclosedVariable = "WARPWRIGHT_ENCLOSED";

/// Started in an enclosure of its own.
struct EnclosedProgram {
  std::vector<std::string> command; ///< looked for in PATH; "%SIZE%" is the request's
  Sandbox sandbox;
  /// Its 0, 1 and 3, which the supervisor closes once it has started; of a request where empty.
  std::vector<int> descriptors = {};
  bool may_ask = false;    ///< for further programs
  bool is_open = false;    ///< not held in at all; for tests
  bool has_folder = false; ///< a private directory of its own inside the worker's
  /// Run in the supervisor before it starts, which may take a while.
  std::function<void(EnclosedProgram &)> prepare = nullptr;
};

class Supervisor {
public:
  explicit Supervisor(std::map<std::string, EnclosedProgram> programs) : programs_(std::move(programs)) {}

  /// As Isolation::enter(), with programs that the process may ask for.
  Result<Isolation> enclose(const Sandbox &sandbox);
  /// Starts a program and ends as it ends. Where isolation is off it becomes the program.
  [[noreturn]] void run(EnclosedProgram program);

private:
  friend Result<std::string> output_of(const EnclosedProgram &program);
  /// In the guest: the rest of the layers.
  static Isolation inside(const Sandbox &sandbox, bool on, std::vector<IsolationLayer> layers);
  /// In the guest: the descriptors where the program looks for them and no others, the rest of the
  /// layers, the program.
  [[noreturn]] static void become(const EnclosedProgram &program, bool on,
                                  std::vector<IsolationLayer> layers, std::vector<int> descriptors,
                                  int asker);
  /// Who may ask, over this end of a socket, and its program.
  struct Asker {
    int socket = -1;
    Guest guest;
    std::filesystem::path folder, kept; ///< of the program; of one that ended, for the next
    /// @return a wait status
    int end(bool keeps_folder);
    void forget_kept();
  };
  /// @return the other end
  int open_asker();
  [[noreturn]] void serve(Guest worker);
  void on_request(int socket);
  nlohmann::json answer(Asker &asker, const nlohmann::json &request, std::vector<int> &given);
  nlohmann::json start(Asker &asker, const nlohmann::json &request, std::vector<int> &given);

  std::map<std::string, EnclosedProgram> programs_;
  std::list<Asker> askers_;
};

/// What a program writes on its standard output, run in an enclosure to its end (without one where
/// isolation is off). Its stderr is this process's.
/// Errors: it could not be started, or ended otherwise than with 0.
Result<std::string> output_of(const EnclosedProgram &program);

} // namespace warpwright::runner
