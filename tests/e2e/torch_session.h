// A session of the real `warpwright lsp` with one file of torch code on the CPU backend: the file's own folder, its lens, its actions,
// its optimization. Thread: the test's.
#pragma once

#include "support/process.h"
#include "tests/e2e/lsp_client.h"

#include <cstdlib>
#include <filesystem>
#include <functional>

namespace warpwright::tests {

/// As the runner chooses it; CMake names one with torch where it found one.
inline std::string python() {
  const char *chosen = std::getenv("WARPWRIGHT_PYTHON");
  return chosen && *chosen ? chosen : "python3";
}

inline bool has_torch() {
  const auto run = run_captured({python(), "-c", "import torch"}, "", std::chrono::seconds(60), {});
  return run && run->status.code == 0;
}

struct TorchSession {
  /// @param file_name of the document, which need not exist; @param settings of the client beside device "cpu"
  explicit TorchSession(const std::string &file_name, Json settings);
  /// Fails the test where the protocol was broken, and removes the folder.
  ~TorchSession();

  /// The title of the file's only lens.
  std::string lens();
  /// At the first place of `what`.
  Json actions(const std::string &what, const Json &diagnostics = Json::array());
  /// Applies the action at `what` whose title is the wanted one. Fails the test where there is none.
  void apply(const std::string &what,
             const std::function<bool(const std::string &title)> &is_wanted);
  /// Waits for as long as a C++ compiler may take.
  rpc::Outcome optimize(const std::string &name);
  /// A file in the document's folder. @return its path
  std::string write(const std::string &name, const std::string &text) const;

  std::filesystem::path folder;
  boost::asio::io_context io;
  LspClient client{io};
  std::string uri;
};

} // namespace warpwright::tests
