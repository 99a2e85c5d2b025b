// The statements that run a plan's steps in C++, as a function over tensors. Used by cpp_writer. Thread: pure functions.
#pragma once

#include "plan/program.h"

#include <string>
#include <vector>

namespace warpwright::server {

struct CppSteps {
  std::vector<std::string> inputs;  ///< buffers that `inputs` of the statements holds, in order
  std::string checks;               ///< "if (...) return {};" of every input
  std::string body;                 ///< from the inputs to the outputs
  std::string outputs;              ///< "y_, z_"
  std::vector<plan::Kernel> kernels; ///< functions[i] is that of kernels[i]
};

/// Errors: a step or dtype that C++ cannot spell.
/// @param given how many of the task's buffers a call is given; those behind them belong to an object, and are inputs where a step uses them
Result<CppSteps> write_cpp_steps(const model::Task &task, const model::Plan &plan,
                                 std::size_t given);

} // namespace warpwright::server
