// The Python programs of the runner, for a supervisor: their command lines, the parts of the
// machine that they can see, and whether they may request further programs.
//
// Only an interpreter knows the paths of its packages. Before it starts a program, the supervisor
// therefore runs interpreter_paths.py, in an enclosure that can read all files but has no network,
// and without any code of a task. The program can then see the reported paths. Thread: the
// supervisor's.
#pragma once

#include "runner/isolation/supervisor.h"

#include <filesystem>

namespace warpwright::runner {

inline constexpr const char *kPythonVariable = "WARPWRIGHT_PYTHON";
/// The value of WARPWRIGHT_PYTHON, else "python3".
std::string python_interpreter();

/// Names in requests for programs.
inline constexpr const char *kTorchProgram = "torch", *kCandidateProgram = "candidate";

/// The folder of the Python files, and the path of the worker's library.
struct TorchFiles {
  std::filesystem::path folder, library;
  Sandbox sandbox; ///< gives access to the toolkit; each program sets its own kind
};

/// The worker with torch for a GPU; it may request candidates.
/// @param device such as "cuda:0"
EnclosedProgram host_program(const TorchFiles &files, const std::string &device);
/// A program that makes one trace.
EnclosedProgram trace_program(const TorchFiles &files);
/// Torch for the CPU worker; it may request candidates.
/// @param descriptors its stdin, its stdout, and shared memory of `bytes` bytes
EnclosedProgram torch_program(const TorchFiles &files, std::vector<int> descriptors, std::size_t bytes);
/// A program that holds another system's module.
EnclosedProgram candidate_program(const TorchFiles &files);

} // namespace warpwright::runner
