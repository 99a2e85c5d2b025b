// What keeps a worker process in, so that a candidate that breaks out of the checks of the language
// and the compiler still finds nothing to take.
//
// A candidate is data, but it is compiled (NVRTC, Clang) and runs (on the GPU, or as machine code in
// the CPU worker); a bug in one of these could give it the process. Covered, layer by layer, each
// where the kernel permits it, and reported as it is:
//   user          started as root: another, unprivileged user and group, where the device files and
//                 the toolkit are open to it
//   capabilities  none, in any set; none can be gained (no_new_privs)
//   network       a network namespace of its own with nothing in it (as root), and the filter below
//   files         Landlock: reads of system libraries, the toolkit, /proc and /sys; writes to the
//                 private temporary directory and the compile cache; no program can be started
//   system calls  seccomp: an allow list for workers that need no driver (CPU, compiler), in which
//                 what only an attack does ends the process; a deny list for the CUDA worker
//   environment   only variables that name places, languages and devices
//   limits        no core dumps, few files and processes, memory (not the CUDA worker's), file size
//
// Not covered: the GPU itself (other processes' work on it, its driver in the kernel, and what
// device code can do to the one address space that reference and candidate share: the verifier's
// canaries, poison and random checks are for that); the compile cache, which all workers of a user
// write; time and power side channels; a kernel bug behind a permitted call. Reading what every user
// may read (/usr, /proc of others, as far as the kernel shows it) is not prevented.
// WARPWRIGHT_ISOLATION: builtin (default), bubblewrap (and builtin in it), off.
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
  Cpu,      ///< compiles and runs x86 code, in memory
  Compiler, ///< NVRTC: reads the toolkit, writes the cache
  Cuda,     ///< NVRTC and the GPU's driver
  Python,   ///< the same inside the user's Python interpreter, which starts compilers of its own
};
/// "cpu", "compiler", "cuda", "python"
const char *name(WorkerKind kind);

enum class IsolationMode { Builtin, Bubblewrap, Off };
/// From WARPWRIGHT_ISOLATION. Errors: a value that is none of the three.
Result<IsolationMode> isolation_mode();

/// Names the private directory of a worker process, in the environment that the service gives it.
inline constexpr const char *kPrivateDirectoryVariable = "WARPWRIGHT_WORKER_DIRECTORY";

/// The variables of the runner's environment that workers get: none that holds a token or a password.
const std::vector<std::string> &inherited_variables();

/// What a worker uses beyond the system's libraries. Paths that do not exist are left out.
struct Sandbox {
  WorkerKind kind = WorkerKind::Cpu;
  std::vector<std::filesystem::path> readable; ///< toolkits, the worker's own executable
  std::filesystem::path cache;                 ///< the parent of the compile cache; empty: none
  bool opens_gpu = true; ///< of Cuda and Python: whether the GPU's device files are open to it
};

struct IsolationLayer {
  std::string name;
  bool active = false;
  std::string detail; ///< what it does, or why it is missing
  bool operator==(const IsolationLayer &) const = default;
};

class Isolation {
public:
  /// Every layer but the filter, which a device's start may not survive. Sets XDG_CACHE_HOME when
  /// the user changes.
  /// Errors: the mode is not understood; never because a layer is missing.
  static Result<Isolation> enter(const Sandbox &sandbox);
  /// The filter, on all threads.
  void seal();
  const std::vector<IsolationLayer> &layers() const { return layers_; }

private:
  WorkerKind kind_ = WorkerKind::Cpu;
  bool off_ = false;
  std::vector<IsolationLayer> layers_;
};

/// [{name, active, detail}]
nlohmann::json to_json(const std::vector<IsolationLayer> &layers);

} // namespace warpwright::runner
