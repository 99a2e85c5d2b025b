// A command with the supervisor of a Python worker above it, which starts candidates for it: the command itself is held by nothing.
// usage: runner_supervise FOLDER_OF_HOST_PY LIBRARY COMMAND...
#include "runner/torch/python_programs.h"

#include <iostream>

int main(int count, char **values) {
  using namespace warpwright::runner;
  if (count < 4) {
    std::cerr << "usage: runner_supervise FOLDER LIBRARY COMMAND..." << std::endl;
    return 2;
  }
  EnclosedProgram command{.command = {values + 3, values + count}, .sandbox = {}};
  command.is_open = true;
  Supervisor({{kCandidateProgram, candidate_program({values[1], values[2], {}})}})
      .run(std::move(command));
}
