// Text of reductions: a row by a warp or a block, a whole array by a grid; float4 loads, shuffles,
// one result a row or one atomic a block.
//
// The user's own accumulation statement is kept, with each load replaced by the fetched element.
// Only the order of adding changes. Rows and arrays may have any alignment: the kernel tests it.
#pragma once

#include "generator/text/source/combine.h"
#include "generator/text/source/render.h"

#include <string>
#include <vector>

namespace warpwright::templates {

/// One array that the accumulation reads at the running index.
struct ReducedArray {
  std::string pointer; ///< parameter
  std::string element; ///< C type, 4 or 8 bytes
  std::string name;    ///< placeholder in `statement` for the element that was read
};

struct ReduceTask {
  /// The placeholder "$e0" of an array, which joins `arrays` where it is new.
  std::string placeholder(const std::string &pointer, const std::string &element_type);

  std::vector<ReducedArray> arrays;
  source::Combine combine = source::Combine::Sum;
  std::string accumulator, accumulator_type; ///< the user's variable
  std::string initial;                       ///< its initial value, for every thread
  std::string counter;                       ///< the user's running index
  std::string index_type;                    ///< of counter and rows
  std::string statement;                     ///< one accumulation: "sum += $e0;"
  std::string extent;                        ///< elements a row, or of the array
  std::string row, rows, stride; ///< of rows: the user's variable, their number, elements between
  std::string epilogue;          ///< the user's statements once the result is known
};

/// A built-in type of so many bytes for vector loads: "uint4"; "unsigned short" for 2 bytes and
/// less.
std::string vector_type(int bytes);
/// Bytes of an element of a C type; 0 for types without a dtype.
int element_bytes(const std::string &type);

/// Body for `threads_a_row` threads a row (32 or the whole block) in blocks of `threads`, of which
/// a grid has ceil(rows / (threads / threads_a_row)).
std::string render_row_reduction(const ReduceTask &task, int threads, int threads_a_row,
                                 const std::set<std::string> &taken);

/// Body for blocks of whole warps in a grid of any size; one thread a block runs `epilogue`.
std::string render_array_reduction(const ReduceTask &task, const std::set<std::string> &taken);

/// Statements that combine `name` over a warp, for all its lanes, or over a block of whole warps,
/// for its first warp.
std::string render_warp_combine(source::Combine combine, const std::string &type,
                                const std::string &name);
std::string render_block_combine(source::Combine combine, const std::string &type,
                                 const std::string &name);

} // namespace warpwright::templates
