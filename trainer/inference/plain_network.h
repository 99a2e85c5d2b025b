// Inference of the builtin policy's transformer without LibTorch; `warpwright` itself runs it, in milliseconds.
//
// It computes the same function as trainer/network/transformer.h, in float32 on one core; a test compares the two. The
// keys and values of the last prompt are kept; if the next prompt begins with the same tokens, only the rest is read.
// Products come from matrix.h; logits are computed only for allowed tokens. Training, batches and devices are left out.
// Thread: one at a time, for a network together with all of its decodings.
#pragma once

#include "support/error.h"
#include "trainer/network/network.h"
#include "trainer/tokens/vocabulary.h"

namespace warpwright::trainer {

/// Errors: an invalid shape; a missing tensor or one of another shape, with its name.
Result<std::unique_ptr<Decoder>> make_plain_network(const NetworkShape &shape,
                                                    const std::vector<NamedTensor> &tensors);

/// A network with its vocabulary, loaded from a stage's weights.
struct PlainPolicy {
  std::shared_ptr<Decoder> network;
  std::shared_ptr<const Vocabulary> vocabulary;
  std::string stage; ///< stage that wrote the weights
};

/// Errors: as read_weights() and make_plain_network().
Result<PlainPolicy> load_plain_policy(const std::string &path);

} // namespace warpwright::trainer
