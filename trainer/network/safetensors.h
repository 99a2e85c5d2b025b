// Reader and writer of safetensors files (github.com/huggingface/safetensors), the format of weights.
//
// A file is 8 bytes of header length, a JSON header, then the tensors' bytes. Only F32, little-endian, is supported;
// other types are refused. Writing is atomic: a new file is written, flushed to disk and renamed. Thread: any.
#pragma once

#include "support/error.h"
#include "trainer/network/network.h"

#include <map>

namespace warpwright::trainer {

struct TensorFile {
  std::map<std::string, std::string> metadata; ///< "__metadata__"
  std::vector<NamedTensor> tensors;
};

/// Errors: an unreadable file, another format, sizes that do not fit.
Result<TensorFile> read_safetensors(const std::string &path);
/// Errors: a full disk; a folder that cannot be written. The previous file is then kept.
Result<void> write_safetensors(const std::string &path, const TensorFile &file);

} // namespace warpwright::trainer
