// A kernel from one matrix in memory to another: the texts that templates over both take.
#pragma once

#include "generator/text/source/render.h"

namespace warpwright::templates {

struct MatrixTask {
  std::string input, output;                        ///< pointers
  std::string rows, cols;                           ///< of the input
  std::string input_stride, output_stride;          ///< elements between rows
  std::string row_name = "row", index_type = "int"; ///< the user's names

  source::Bindings bindings() const {
    return {{"input", input},
            {"output", output},
            {"rows", source::parenthesised(rows)},
            {"cols", source::parenthesised(cols)},
            {"input_stride", source::parenthesised(input_stride)},
            {"output_stride", source::parenthesised(output_stride)},
            {"row", row_name},
            {"index", index_type}};
  }
};

} // namespace warpwright::templates
