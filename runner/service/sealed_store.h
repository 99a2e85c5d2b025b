// Texts on disk that the service alone writes and reads: compiled code, a GPU's rates. Each is sealed with an HMAC under a secret
// that lies beside them, readable by the runner's user only, and that no worker is given. A text that was changed, or written by
// somebody without the secret, is not there. A folder that cannot be used is no error: nothing is kept then. Thread: any.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace warpwright::runner {

class SealedStore {
public:
  /// @param folder made where it is missing; empty: nothing is kept
  explicit SealedStore(std::filesystem::path folder);
  std::optional<std::string> read(const std::string &name) const;
  void write(const std::string &name, const std::string &text) const;
  bool keeps() const { return !secret_.empty(); }

private:
  std::string seal(const std::string &name, const std::string &text) const;
  std::filesystem::path file_of(const std::string &name) const;

  std::filesystem::path folder_;
  std::string secret_;
};

} // namespace warpwright::runner
