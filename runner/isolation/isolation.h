// Isolation of worker processes. Code that escapes the checks of the language and the compiler, and
// host code sent by a client, must find no data to read and no processes to disturb.
//
// A candidate is data, but it is compiled (NVRTC, Clang) and runs (on the GPU, or as machine code
// in the CPU worker), so a bug in a compiler or driver could give it control of the process. Torch
// tasks and modules of other systems are the client's Python. All layers are entered before a
// worker reads a job or an interpreter starts. A layer that the kernel does not permit is reported
// as missing:
//   limits        no core dumps; limits of files, processes, file size, and memory (without a GPU)
//   processes     a PID namespace (with IPC and host name): other processes are invisible, and
//                 child processes end with it
//   network       an empty network namespace; the filter refuses connections to other sockets
//   view          a separate root (root_folder.h): needed files, read-only; tmpfs for the rest
//   user          if started as root: an unprivileged user and group; candidates get another one
//   capabilities  none, in any set; none can be gained (no_new_privs)
//   files         Landlock, with the same list as the view (file_rules.h)
//   system calls  seccomp: an allow list for workers without a driver (CPU, compiler), where calls
//                 that only an attack makes end the process; deny lists for the others
//   environment   only variables with paths, languages and devices (set by the service)
// The supervisor (supervisor.h) starts the process in its enclosure and ends the enclosure.
//
// Not covered: the GPU itself (other processes' work on it, its driver in the kernel, and device
// code in the address space that reference and candidate share; the verifier's canaries, poison and
// random checks protect against the latter); time and power side channels; a kernel bug behind a
// permitted call. Files in the view (/usr, the interpreter) can be read.
// WARPWRIGHT_ISOLATION: builtin (default), off.
// WARPWRIGHT_ISOLATION_WITHOUT: comma-separated names of layers to leave out; see
// docs/operate/isolation.md.
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
  Python,    ///< as Cuda, inside the user's Python interpreter, which starts compilers
  Candidate, ///< Python that runs another system's module: as Python, with a different user
};
inline constexpr WorkerKind kWorkerKinds[] = {WorkerKind::Cpu, WorkerKind::Compiler,
                                              WorkerKind::Cuda, WorkerKind::Python,
                                              WorkerKind::Candidate};
/// "cpu", "compiler", "cuda", "python", "candidate"
const char *name(WorkerKind kind);
/// Whether a GPU's driver may run in the worker. A driver's system calls differ between versions,
/// so an allow list would fail with the next version.
constexpr bool uses_driver(WorkerKind kind) {
  return kind != WorkerKind::Cpu && kind != WorkerKind::Compiler;
}
/// Whether the worker may start programs.
constexpr bool starts_programs(WorkerKind kind) {
  return kind == WorkerKind::Python || kind == WorkerKind::Candidate;
}

/// Errors: a value of WARPWRIGHT_ISOLATION that is neither builtin nor off.
Result<bool> is_isolation_on();

/// Environment variable that the service sets to the private directory of a worker process.
inline constexpr const char *kPrivateDirectoryVariable = "WARPWRIGHT_WORKER_DIRECTORY";

/// Variables of the runner's environment that workers inherit; none holds a token or a password.
const std::vector<std::string> &inherited_variables();

/// Resources of a worker beyond the system's libraries. Paths that do not exist are ignored.
struct Sandbox {
  WorkerKind kind = WorkerKind::Cpu;
  std::vector<std::filesystem::path> readable; ///< toolkits, interpreters, packages
  bool opens_gpu = true; ///< for kinds with a driver: whether it may open the GPU's device files
  std::vector<std::filesystem::path> writable = {}; ///< beyond the private directory
  /// For a process that finds an interpreter's packages, which may lie anywhere. It may read all
  /// files of its user, keeps that user, and runs no task's code.
  bool sees_all = false;
  /// Whether the process calls seal() once its device is up. If not, a worker with a driver gets
  /// the whole filter from the start.
  bool seals_later = false;
  bool is_nice = false; ///< low priority, because another process is measured meanwhile
};

struct IsolationLayer {
  std::string name;
  bool active = false;
  std::string detail; ///< its effect, or why it is missing
  bool operator==(const IsolationLayer &) const = default;
};

class Isolation {
public:
  /// Encloses the rest of the calling process: this process becomes the supervisor and never
  /// returns, and a new process returns inside the enclosure. Descriptors and streams are
  /// inherited. All layers are in force except the parts of the filter that wait for seal(). Sets
  /// TMPDIR. With isolation off, the calling process itself returns.
  /// Errors: WARPWRIGHT_ISOLATION is invalid; no process can be started. A missing layer is no
  /// error.
  static Result<Isolation> enter(const Sandbox &sandbox);
  /// Isolation of a process that was started in its enclosure (supervisor.h).
  static Isolation resume(WorkerKind kind);
  /// Loads the rest of the filter, for all threads.
  void seal();
  const std::vector<IsolationLayer> &layers() const { return layers_; }
  /// The required layers that are missing (requirement.h), as readable text; empty: none.
  std::string missing() const;

private:
  friend class Supervisor;
  WorkerKind kind_ = WorkerKind::Cpu;
  bool off_ = false;
  std::vector<IsolationLayer> layers_;
};

/// Whether a layer is wanted, that is, not listed in WARPWRIGHT_ISOLATION_WITHOUT.
bool is_wanted(const std::string &layer);

/// Adds or replaces the filter's layer. A filter also isolates a process without a network
/// namespace from the network.
void add_filter(std::vector<IsolationLayer> &layers, const IsolationLayer &filter);

/// [{name, active, detail}]
nlohmann::json to_json(const std::vector<IsolationLayer> &layers);
/// Entries that are not valid layers are left out.
std::vector<IsolationLayer> layers_from_json(const nlohmann::json &document);

} // namespace warpwright::runner
