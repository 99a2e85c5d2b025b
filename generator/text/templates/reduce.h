// Reductions: a row by a warp or a block, a whole array by a grid; float4 loads, shuffles, one result a row or
// one atomic a block.
//
// The user's own accumulation statement is kept, with each load replaced by the element that was fetched. Only
// the order of adding changes. Rows and arrays of any alignment: the vector path asks at run time.
// Thread: values, any.
#pragma once

#include "generator/text/source/combine.h"
#include "generator/text/source/render.h"

#include <string>
#include <vector>

namespace warpwright::generator {

/// One array that the accumulation reads at the running index.
struct ReducedArray {
  std::string pointer; ///< parameter
  std::string element; ///< C type, 4 or 8 bytes
  std::string name;    ///< placeholder in `statement` for the element that was read
};

struct ReduceTask {
  std::vector<ReducedArray> arrays;
  Combine combine = Combine::Sum;
  std::string accumulator, accumulator_type; ///< the user's variable
  std::string initial;                       ///< its initial value, for every thread
  std::string counter;                       ///< the user's running index
  std::string index_type;                    ///< of counter and rows
  std::string statement;                     ///< one accumulation: "sum += $e0;"
  std::string extent;                        ///< elements a row, or of the array
  std::string row, rows,
      stride; ///< row reductions: the user's row variable, how many, elements between rows
  std::string epilogue; ///< the user's statements once the result is known
};

/// Elements in a 16-byte load of the arrays of a task; 0 when they cannot be loaded so.
int vector_width(const ReduceTask &task);

/// `threads_a_row` threads a row (32 or the whole block) in blocks of `threads`: ceil(rows / (threads / threads_a_row)).
std::string render_row_reduction(const ReduceTask &task, int threads, int threads_a_row,
                                 const std::set<std::string> &taken);

/// Blocks of whole warps in a grid of any size; every block runs `epilogue` once, in one thread.
std::string render_array_reduction(const ReduceTask &task, const std::set<std::string> &taken);

/// Leaves the combination over a warp in all its lanes / over a block of whole warps in its first warp.
std::string render_warp_combine(Combine combine, const std::string &type, const std::string &name);
std::string render_block_combine(Combine combine, const std::string &type, const std::string &name);

} // namespace warpwright::generator
