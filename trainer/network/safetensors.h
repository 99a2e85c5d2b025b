// The file format of weights (github.com/huggingface/safetensors): 8 bytes of header length, a JSON header, then the tensors' bytes.
//
// Reads and writes F32, little-endian; other types are refused. Writing is atomic: a new file is written, flushed to the disk and
// renamed. Thread: any.
#pragma once

#include "support/error.h"
#include "trainer/network/network.h"

#include <map>

namespace warpwright::trainer {

struct TensorFile {
  std::map<std::string, std::string> metadata; ///< "__metadata__"
  std::vector<NamedTensor> tensors;
};

/// Errors: not readable, no such format, sizes that do not fit.
Result<TensorFile> read_safetensors(const std::string &path);
/// Errors: a full disk or a folder that cannot be written; what was there before is then kept.
Result<void> write_safetensors(const std::string &path, const TensorFile &file);

} // namespace warpwright::trainer
