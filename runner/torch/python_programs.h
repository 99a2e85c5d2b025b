// The Python programs of the runner, as a supervisor starts them: what they are called with, what of the
// machine they see, and which may ask for which.
//
// Where an interpreter's packages lie only the interpreter knows. So it is asked first, by
// interpreter_paths.py in an enclosure that reads all and reaches nobody, before any code of a task is
// there; what it names is what the programs see. Thread: the supervisor's.
#pragma once

#include "runner/isolation/supervisor.h"

#include <filesystem>

namespace warpwright::runner {

inline constexpr const char *kPythonVariable = "WARPWRIGHT_PYTHON";
/// $WARPWRIGHT_PYTHON, else python3.
std::string python_interpreter();

/// Names by which programs are asked for.
inline constexpr const char *kTorchProgram = "torch", *kCandidateProgram = "candidate";

/// Beside host.py and the others lies the worker's library.
struct TorchFiles {
  std::filesystem::path folder, library;
  Sandbox sandbox; ///< the toolkit; its kind is each program's own
};

/// The worker with torch, for a GPU; it may ask for candidates.
/// @param device "cuda:0"
EnclosedProgram host_program(const TorchFiles &files, const std::string &device);
/// One trace.
EnclosedProgram trace_program(const TorchFiles &files);
/// Torch for the CPU's worker; it may ask for candidates.
/// @param descriptors its stdin, stdout, and memory of `bytes`
EnclosedProgram torch_program(const TorchFiles &files, std::vector<int> descriptors, std::size_t bytes);
/// Another system's module.
EnclosedProgram candidate_program(const TorchFiles &files);

} // namespace warpwright::runner
