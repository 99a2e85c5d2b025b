// CUDA text of reductions: of a row by a warp or a block, and of a whole array by a grid, with float4
// loads, shuffles, and one result a row or one atomic operation a block.
//
// The user's accumulation statement stays, with each load replaced by the loaded element. Only the
// order of the sum changes. Rows and arrays may have any alignment; the kernel tests it.
#pragma once

#include "generator/text/source/combine.h"
#include "generator/text/source/render.h"

#include <string>
#include <vector>

namespace warpwright::templates {

/// One array that the accumulation reads at the running index.
struct ReducedArray {
  std::string pointer; ///< name of the parameter
  std::string element; ///< C type of 4 or 8 bytes
  std::string name;    ///< placeholder in `statement` for the element that was read
};

struct ReduceTask {
  /// The placeholder ("$e0") of an array; adds a new array to `arrays`.
  std::string placeholder(const std::string &pointer, const std::string &element_type);

  std::vector<ReducedArray> arrays;
  source::Combine combine = source::Combine::Sum;
  std::string accumulator, accumulator_type; ///< the user's variable
  std::string initial;                       ///< initial value of the accumulator in every thread
  std::string counter;                       ///< the user's running index
  std::string index_type;                    ///< type of counter and rows
  std::string statement;                     ///< one accumulation: "sum += $e0;"
  std::string extent;                        ///< number of elements in a row or in the array
  std::string row, rows, stride; ///< the user's row variable, number of rows, row stride in elements
  std::string epilogue;          ///< the user's statements after the reduction
};

/// A built-in type of this size for vector loads, such as "uint4"; "unsigned short" for 2 bytes or
/// fewer.
std::string vector_type(int bytes);
/// Bytes of an element of a C type; 0 for types without a dtype.
int element_bytes(const std::string &type);

/// Body for `threads_a_row` threads a row (32 or the whole block) in blocks of `threads`, in a grid
/// of ceil(rows / (threads / threads_a_row)) blocks.
std::string render_row_reduction(const ReduceTask &task, int threads, int threads_a_row,
                                 const std::set<std::string> &taken);

/// Body for blocks of whole warps in a grid of any size; one thread a block runs `epilogue`.
std::string render_array_reduction(const ReduceTask &task, const std::set<std::string> &taken);

/// Statements that combine `name` over a warp, with the result in all lanes, or over a block of whole
/// warps, with the result in the first warp.
std::string render_warp_combine(source::Combine combine, const std::string &type,
                                const std::string &name);
std::string render_block_combine(source::Combine combine, const std::string &type,
                                 const std::string &name);

} // namespace warpwright::templates
