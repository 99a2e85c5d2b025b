// The builtin policy's transformer for answering only, without LibTorch: what `warpwright` itself runs, in milliseconds.
//
// The same function of the same weights as trainer/network/transformer.h, in float32 on one core; a test compares the two. Keys and values
// of what was read are kept, and the last prompt with them: of a next one that begins alike, only the rest is read. Products are those of
// matrix.h; logits are computed of the tokens that are allowed, and of no others. It leaves out training, batches and devices.
// Thread: one at a time, with all of its decodings.
#pragma once

#include "support/error.h"
#include "trainer/network/network.h"
#include "trainer/tokens/vocabulary.h"

namespace warpwright::trainer {

/// Errors: a tensor that is missing, or of another shape; its name is said.
Result<std::unique_ptr<Decoder>> make_plain_network(const NetworkShape &shape,
                                                    const std::vector<NamedTensor> &tensors);

/// Weights as a stage writes them, ready to answer.
struct PlainPolicy {
  std::shared_ptr<Decoder> network;
  std::shared_ptr<const Vocabulary> vocabulary;
  std::string stage; ///< that wrote them
};

/// Errors: as read_weights() and make_plain_network().
Result<PlainPolicy> load_plain_policy(const std::string &path);

} // namespace warpwright::trainer
