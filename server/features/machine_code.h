// PTX and machine code of a plan next to its source, linked line by line. Thread: any.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace warpwright::server::features {

/// The instructions from an address up to the next row come from these lines.
struct CodeRow {
  std::string kernel;
  std::uint64_t address = 0;
  std::size_t ptx_line = 0, source_line = 0; ///< from 1; 0: unknown
};

struct MachineCode {
  std::string source, ptx;
  std::string sass;         ///< of nvdisasm; empty: see sass_missing
  std::string sass_missing; ///< why there is no sass
  std::string nvrtc;        ///< version of the compiler
  std::vector<CodeRow> rows; ///< of each kernel in the order of addresses
};

/// @param listing the document of `warpwright-runner listing`, not an error
MachineCode machine_code_from_json(const nlohmann::json &listing);

/// Each line of the source, followed by the lines of PTX and the instructions that come from it.
std::string interleaved(const MachineCode &code);

} // namespace warpwright::server::features
