// The server's surroundings for tests without Clang, runner or disk: analysis that finds
// `__global__ void NAME(` by text, a runner whose verdicts the test scripts, a ledger in memory,
// and a session over a socket pair.
#pragma once

#include "server/lsp/lsp_server.h"
#include "tests/e2e/lsp_client.h"

#include <atomic>
#include <deque>

namespace warpwright::tests {

/// A runner that answers from a script; an empty script means "wait until told to stop".
struct FakeRunner {
  std::deque<Result<model::Verdict>> verdicts;
  std::string device_kind = "cuda", device_name = "NVIDIA H200";
  std::atomic<int> connections = 0;
};

model::Verdict verdict(model::Outcome outcome, std::optional<model::Speedup> speedup = {});
model::Speedup speedup(double ratio, double low, double high);

/// What ledgers on one path share.
using LedgerRows = std::vector<runner::LedgerEntry>;

/// Kernels, launches `NAME<<<`, and a warning "double-arithmetic" with a fix on each `2.0` in the
/// text. A kernel with "no_task" in its name lacks a fact.
analysis::FileFacts fake_facts(const std::string &path, const std::string &text);

/// An environment whose optimization tries one variant a scripted verdict, its moves
/// "fake(step=N)", and whose edits put a comment line first.
server::LspEnvironment fake_environment(std::shared_ptr<FakeRunner> runner,
                                        std::shared_ptr<LedgerRows> rows);

/// A server and its client in one event loop.
struct Session {
  explicit Session(std::shared_ptr<FakeRunner> runner = std::make_shared<FakeRunner>(),
                   std::shared_ptr<LedgerRows> rows = std::make_shared<LedgerRows>());
  Session(server::LspEnvironment environment, std::shared_ptr<FakeRunner> runner,
          std::shared_ptr<LedgerRows> rows);
  ~Session();

  std::shared_ptr<FakeRunner> runner;
  std::shared_ptr<LedgerRows> rows;
  boost::asio::io_context io;
  std::optional<int> exit_code;
  server::LspServer server;
  LspClient client{io};
};

} // namespace warpwright::tests
