// Writer of the recurrent family's kernel (recurrent.cpp).
#pragma once

#include "generator/families/recurrent/recurrent_shape.h"
#include "generator/elements/element_writer.h"

namespace warpwright::families::recurrent {

struct RecurrentText {
  std::string prefix;
  std::int64_t units = 0;             ///< of a block; divides the layer's
  std::int64_t layers = 0;            ///< of a full launch
  std::int64_t chunks = 0, batch = 0; ///< pieces of the batch, and elements in each
  std::int64_t threads = 0;
  bool polls =
      true; ///< false if a block reads only its own states and those of earlier launches
};

/// Bytes of dynamic shared memory of a block.
std::int64_t recurrent_shared_bytes(const RecurrentShape &shape, std::int64_t units,
                                    std::int64_t batch, std::int64_t threads);

/// Kernel PREFIX_recurrent(writer's parameters, float *states,
/// int first_layer); blocks count parts, directions, then layers.
std::string recurrent_kernel(const RecurrentShape &shape, elements::ElementWriter &writer,
                             const RecurrentText &text);

} // namespace warpwright::families::recurrent
