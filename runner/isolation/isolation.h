// What keeps a worker process in, so that code that breaks out of the checks of the language and
// the compiler, or host code that a client sent, finds nothing to take and nobody to disturb.
//
// A candidate is data, but it is compiled (NVRTC, Clang) and runs (on the GPU, or as machine code in
// the CPU worker); a bug in one of these could give it the process. Torch tasks and other systems'
// modules are Python of the client's. Every layer is entered by this code, before a worker reads a
// job and before an interpreter is started; each where the kernel permits it, and reported as it is:
//   limits        no core dumps, few files and processes, memory (without a GPU), file size
//   processes     a PID namespace of its own (and IPC, host name): no other process is in sight, and
//                 none of its own outlives it
//   network       a network namespace with nothing in it; the filter refuses sockets that reach out
//   view          a root of its own (root_folder.h): what it needs, read-only; tmpfs for the rest
//   user          started as root: another, unprivileged user and group; candidates one more
//   capabilities  none, in any set; none can be gained (no_new_privs)
//   files         Landlock, by the same list as the view (file_rules.h)
//   system calls  seccomp: an allow list for workers that need no driver (CPU, compiler), in which
//                 what only an attack does ends the process; deny lists for the others
//   environment   only variables that name places, languages and devices (the service sees to it)
// The supervisor (supervisor.h) starts the process in its enclosure and ends all of it.
//
// Not covered: the GPU itself (other processes' work on it, its driver in the kernel, and what
// device code can do to the one address space that reference and candidate share: the verifier's
// canaries, poison and random checks are for that); time and power side channels; a kernel bug
// behind a permitted call. Reading what lies in the view (/usr, the interpreter) is not prevented.
// WARPWRIGHT_ISOLATION: builtin (default), off.
// WARPWRIGHT_ISOLATION_WITHOUT: names of layers, by comma; docs/isolation.md has the rest.
// Thread: enter() before others exist, seal() any.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace warpwright::runner {

enum class WorkerKind {
  Cpu,       ///< compiles and runs x86 code, in memory
  Compiler,  ///< NVRTC: reads the toolkit, writes the cache
  Cuda,      ///< NVRTC and the GPU's driver
  Python,    ///< the same inside the user's Python interpreter, which starts compilers of its own
  Candidate, ///< Python that runs another system's module: as Python, with a user of its own
};
inline constexpr WorkerKind kWorkerKinds[] = {WorkerKind::Cpu, WorkerKind::Compiler,
                                              WorkerKind::Cuda, WorkerKind::Python,
                                              WorkerKind::Candidate};
/// "cpu", "compiler", "cuda", "python", "candidate"
const char *name(WorkerKind kind);
/// Whether a GPU's driver may run in it: its calls differ between versions, so a list of what is
/// allowed would break with the next one.
constexpr bool uses_driver(WorkerKind kind) {
  return kind != WorkerKind::Cpu && kind != WorkerKind::Compiler;
}
/// Whether it may start programs.
constexpr bool starts_programs(WorkerKind kind) {
  return kind == WorkerKind::Python || kind == WorkerKind::Candidate;
}

/// Errors: a value of WARPWRIGHT_ISOLATION that is neither builtin nor off.
Result<bool> is_isolation_on();

/// Names the private directory of a worker process, in the environment that the service gives it.
inline constexpr const char *kPrivateDirectoryVariable = "WARPWRIGHT_WORKER_DIRECTORY";

/// The variables of the runner's environment that workers get: none that holds a token or a password.
const std::vector<std::string> &inherited_variables();

/// What a worker uses beyond the system's libraries. Paths that do not exist are left out.
struct Sandbox {
  WorkerKind kind = WorkerKind::Cpu;
  std::vector<std::filesystem::path> readable; ///< toolkits, interpreters, packages
  bool opens_gpu = true; ///< of kinds with a driver: whether the GPU's device files are open to it
  std::vector<std::filesystem::path> writable = {}; ///< beyond the private directory
  /// It looks for an interpreter's packages, which lie anywhere: it reads all that its user may,
  /// stays that user, and has no task's code in it.
  bool sees_all = false;
  /// It calls seal() when its device is up; else the whole filter is in force from the start.
  bool seals_later = false;
  bool is_nice = false; ///< others are measured meanwhile
};

struct IsolationLayer {
  std::string name;
  bool active = false;
  std::string detail; ///< what it does, or why it is missing
  bool operator==(const IsolationLayer &) const = default;
};

class Isolation {
public:
  /// Holds the calling process's continuation in: this process becomes the supervisor and never
  /// returns; a new one returns in the enclosure, behind every layer but the parts of the filter
  /// that a device's start may not survive. Streams and descriptors go along. Sets TMPDIR.
  /// Errors: the mode is not understood; never because a layer is missing.
  static Result<Isolation> enter(const Sandbox &sandbox);
  /// Of a process that was started in its enclosure (supervisor.h).
  static Isolation resume(WorkerKind kind);
  /// The rest of the filter, on all threads.
  void seal();
  const std::vector<IsolationLayer> &layers() const { return layers_; }
  /// Empty, or which layers are missing without which this process may do no work
  /// (requirement.h), for people.
  std::string missing() const;

private:
  friend class Supervisor;
  WorkerKind kind_ = WorkerKind::Cpu;
  bool off_ = false;
  std::vector<IsolationLayer> layers_;
};

/// The layer, or word that it was not wanted (WARPWRIGHT_ISOLATION_WITHOUT).
bool is_wanted(const std::string &layer);

/// The filter, among the layers; it also keeps a process without a namespace from the network.
void add_filter(std::vector<IsolationLayer> &layers, const IsolationLayer &filter);

/// [{name, active, detail}]
nlohmann::json to_json(const std::vector<IsolationLayer> &layers);
/// What does not fit is left out.
std::vector<IsolationLayer> layers_from_json(const nlohmann::json &document);

} // namespace warpwright::runner
