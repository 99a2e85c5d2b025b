// C++ statements that run a plan's steps on tensors, for cpp_writer.
#pragma once

#include "plan/program.h"

#include <string>
#include <vector>

namespace warpwright::server {

struct CppSteps {
  std::vector<std::string> inputs;  ///< names of the buffers in the statements' list `inputs`, in order
  std::string checks;               ///< "if (...) return {};" for each input
  std::string body;                 ///< statements that compute the outputs from the inputs
  std::string outputs;              ///< list of the outputs: "y_, z_"
  std::vector<plan::Kernel> kernels; ///< the statements call kernels[i] by functions[i]
};

/// The statements of a plan. Errors: a step or dtype that C++ cannot express.
/// @param given number of buffers that the caller passes. Later ones belong to an object; used ones become inputs
Result<CppSteps> write_cpp_steps(const model::Task &task, const model::Plan &plan,
                                 std::size_t given);

} // namespace warpwright::server
