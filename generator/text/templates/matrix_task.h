// Texts of a kernel that computes one matrix from another, for templates over both.
#pragma once

#include "generator/text/source/render.h"

namespace warpwright::templates {

struct MatrixTask {
  std::string input, output;                        ///< pointers
  std::string rows, cols;                           ///< extents of the input
  std::string input_stride, output_stride;          ///< row strides, in elements
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
