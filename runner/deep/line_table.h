// Line tables of a cubin that was compiled with -lineinfo: from machine code to lines of PTX and of
// the source.
//
// NVRTC writes two line programs of DWARF 2 (DWARF Debugging Standard 2.0, section 6.2):
// `.debug_line` leads from an address to a line of the source, `.nv_debug_line_sass` to a line of
// the PTX in `.nv_debug_ptx_txt`. Both name the kernel of an address by a relocation. Neither
// nvdisasm nor a GPU is needed. Inlined calls (NVIDIA's extended opcode 0x90) are skipped, so a row
// has the line of the inlined function. Thread: any.
#pragma once

#include "support/error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::runner::deep {

struct LineRow {
  std::string kernel;
  std::uint64_t address = 0; ///< bytes from the kernel's first instruction
  std::size_t line = 0;      ///< from 1
  bool operator==(const LineRow &) const = default;
};

struct LineTables {
  std::vector<LineRow> source; ///< of each kernel in the order of addresses
  std::vector<LineRow> ptx;
  std::string ptx_text;
};

/// @param cubin an ELF file of 64 bits
/// Errors: not such a file; no line tables, because it was compiled without -lineinfo; a damaged table.
Result<LineTables> read_line_tables(std::string_view cubin);

} // namespace warpwright::runner::deep
