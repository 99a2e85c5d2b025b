// Texts on disk that only the service writes and reads, such as compiled code and a GPU's rates.
// Each text is sealed with an HMAC. The secret lies in the same folder, is readable only by the
// runner's user, and is never given to a worker. A text that was changed, or written without the
// secret, is treated as absent. An unusable folder is no error: nothing is kept then. Thread: any.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace warpwright::runner {

class SealedStore {
public:
  /// @param folder created if it is missing; empty: nothing is kept
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
