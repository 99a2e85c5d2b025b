// The fakes.
#include "tests/server/fake_environment.h"

#include "support/model/json.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <sys/socket.h>

namespace warpwright::tests {

namespace {

class FakeClient final : public runner::BlockingClient {
public:
  explicit FakeClient(std::shared_ptr<FakeRunner> runner) : runner_(std::move(runner)) {}

  Result<runner::RunnerInfo> info() override {
    runner::RunnerInfo info;
    info.devices.push_back({.kind = runner_->device_kind, .name = runner_->device_name});
    return info;
  }

  Result<std::vector<runner::DeviceIsolation>> isolation() override {
    return fail("this runner does not isolate");
  }

  Result<model::Verdict> verify(const model::Task &, const model::Plan &,
                                const runner::VerifyOptions &, std::stop_token stop,
                                runner::Client::StageCallback) override {
    if (runner_->verdicts.empty()) {
      while (!stop.stop_requested())
        std::this_thread::yield();
      return fail("cancelled");
    }
    auto next = runner_->verdicts.front();
    runner_->verdicts.pop_front();
    return next;
  }

  Result<std::vector<Result<runner::TracedModule>>>
  trace(const std::vector<model::TorchModule> &) override {
    return fail("this runner traces nothing");
  }

private:
  std::shared_ptr<FakeRunner> runner_;
};

class FakeLedger final : public runner::Ledger {
public:
  explicit FakeLedger(std::shared_ptr<LedgerRows> rows) : rows_(std::move(rows)) {}
  Result<void> record(const runner::LedgerEntry &entry) override {
    rows_->insert(rows_->begin(), entry);
    return {};
  }
  Result<runner::KernelHistory> of_kernel(const std::string &file,
                                          const std::string &kernel) override {
    LedgerRows found;
    std::copy_if(rows_->begin(), rows_->end(), std::back_inserter(found),
                 [&](const auto &entry) { return entry.file == file && entry.kernel == kernel; });
    return runner::KernelHistory{.entries = std::move(found)};
  }
  Result<runner::KernelHistory> under(const std::filesystem::path &, std::size_t) override {
    return runner::KernelHistory{.entries = *rows_};
  }

private:
  std::shared_ptr<LedgerRows> rows_;
};

Result<server::OptimizeSummary> fake_optimize(const server::OptimizeRequest &request,
                                              runner::BlockingClient &client,
                                              const server::OptimizeEvents &events,
                                              std::stop_token stop) {
  if (request.profiled)
    return server::profile(request, client, events, stop);
  server::OptimizeSummary summary;
  const analysis::Kernel *kernel = request.snapshot->find_kernel(request.kernel);
  if (!kernel->task.inferred)
    return fail("facts are missing");
  for (int step = 0; step < request.settings.max_variants && !stop.stop_requested(); ++step) {
    model::Plan plan;
    plan.source = kernel->slice + "// step " + std::to_string(step);
    plan.moves = {"fake(step=" + std::to_string(step) + ")"};
    const auto verdict = client.verify(kernel->task.task, plan, {}, stop);
    if (!verdict) {
      if (!stop.stop_requested())
        events.on_runner_error(verdict.error());
      continue;
    }
    ++summary.tried;
    summary.verified += verdict->outcome == model::Outcome::Verified;
    if (server::is_faster(*verdict))
      summary.best = verdict->speedup;
    events.on_entry({request.snapshot->facts.path, request.kernel, kernel->task.task, plan,
                     *verdict, "", server::source_hash(kernel->slice)});
  }
  return summary;
}

int make_pair(int &other) {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  other = ends[1];
  return ends[0];
}

Range word_at(const std::string &text, std::size_t begin) {
  return {begin, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789", begin)};
}

} // namespace

model::Speedup speedup(double ratio, double low, double high) {
  return {ratio, low, high, 40, "NVIDIA H200"};
}

model::Verdict verdict(model::Outcome outcome, std::optional<model::Speedup> speedup) {
  model::Verdict verdict;
  verdict.outcome = outcome;
  verdict.device = {.kind = speedup ? "cuda" : "cpu",
                    .name = speedup ? speedup->device : "CPU backend"};
  verdict.speedup = speedup;
  verdict.date = "2026-01-02T03:04:05Z";
  if (speedup) {
    verdict.reference_time =
        model::Time{.median_ns = 12'300, .low_ns = 12'000, .high_ns = 12'500, .samples = 40};
    verdict.candidate_time = model::Time{.median_ns = 12'300 / speedup->ratio, .samples = 40};
    verdict.measured_sizes = "n=1048576";
    verdict.reference_kernels = {{.kernel = "scale", .registers = 18, .occupancy = 1.0}};
    verdict.kernels = {{.kernel = "scale",
                        .registers = 32,
                        .spill_store_bytes = 0,
                        .spill_load_bytes = 0,
                        .occupancy = 0.75}};
  }
  return verdict;
}

analysis::FileFacts fake_facts(const std::string &path, const std::string &text) {
  analysis::FileFacts facts;
  facts.path = path;
  facts.pass = analysis::Pass::Stub;
  constexpr std::string_view kHead = "__global__ void ";
  for (std::size_t at = text.find(kHead); at != std::string::npos; at = text.find(kHead, at + 1)) {
    analysis::Kernel kernel;
    kernel.name_range = word_at(text, at + kHead.size());
    kernel.name = text.substr(kernel.name_range.begin, kernel.name_range.size());
    kernel.range = {at, std::min(text.find('}', at), text.size() - 1) + 1};
    kernel.slice = text.substr(kernel.range.begin, kernel.range.size()) + "\n";
    kernel.task.inferred = kernel.name.find("no_task") == std::string::npos;
    if (!kernel.task.inferred)
      kernel.task.missing = {{"n", "How many elements does x hold?"}};
    if (kernel.name.contains("assuming"))
      kernel.task.assumptions = {"of the values in blocks 128 is taken"};
    kernel.task.task.name = kernel.name;
    if (const std::size_t index = text.find("x[", at); index < kernel.range.end)
      kernel.accesses.push_back({.buffer = "x",
                                 .pattern = analysis::AccessPattern::Strided,
                                 .index = {.text = "2 * i"},
                                 .stride = 2,
                                 .range = {index, index + 4}});
    facts.kernels.push_back(kernel);
  }
  for (std::size_t at = text.find("<<<"); at != std::string::npos; at = text.find("<<<", at + 1)) {
    analysis::Launch launch;
    const std::size_t begin = text.find_last_of(" \n", at) + 1;
    launch.kernel = text.substr(begin, at - begin);
    launch.range = {begin, text.find(')', at) + 1};
    facts.launches.push_back(launch);
  }
  for (std::size_t at = text.find("2.0"); at != std::string::npos; at = text.find("2.0", at + 3))
    if (text.substr(at, 4) != "2.0f")
      facts.diagnostics.push_back({.rule = "double-arithmetic",
                                   .severity = analysis::Severity::Warning,
                                   .message = "computes in double",
                                   .range = {at, at + 3},
                                   .fixes = {{"Write 2.0f", {{{at, at + 3}, "2.0f"}}}}});
  return facts;
}

server::LspEnvironment fake_environment(std::shared_ptr<FakeRunner> runner,
                                        std::shared_ptr<LedgerRows> rows) {
  server::LspEnvironment environment;
  environment.analyses.stub = [](const std::string &path, const std::string &text) {
    return server::AnalysisResult{fake_facts(path, text), {}};
  };
  environment.open_ledger = [rows]() -> Result<std::unique_ptr<runner::Ledger>> {
    return std::make_unique<FakeLedger>(rows);
  };
  environment.connect_runner =
      [runner](const std::string &) -> Result<std::unique_ptr<runner::BlockingClient>> {
    ++runner->connections;
    return std::make_unique<FakeClient>(runner);
  };
  environment.optimize = fake_optimize;
  environment.variant_edits = [](const std::string &, const std::string &,
                                 const runner::LedgerEntry &entry,
                                 const server::VariantForm &) -> Result<server::VariantEdits> {
    return server::VariantEdits{{{{0, 0}, "// " + entry.plan.moves[0] + "\n"}}};
  };
  environment.missing_facts_edits = [](const server::Snapshot &,
                                       const std::string &kernel) -> Result<std::vector<TextEdit>> {
    return std::vector<TextEdit>{{{0, 0}, "// facts of " + kernel + "\n"}};
  };
  environment.approvals = consent::ApprovalStore(std::filesystem::path()); // nothing is approved
  environment.docs_url = "https://example.org/rules";
  environment.settings.max_variants = 3;
  return environment;
}

Session::Session(std::shared_ptr<FakeRunner> runner, std::shared_ptr<LedgerRows> rows)
    : Session(fake_environment(runner, rows), runner, rows) {}

Session::Session(server::LspEnvironment environment, std::shared_ptr<FakeRunner> fake,
                 std::shared_ptr<LedgerRows> ledger)
    : runner(std::move(fake)), rows(std::move(ledger)),
      server(io.get_executor(), std::move(environment), [this](int code) { exit_code = code; }) {
  int other = -1;
  const int mine = make_pair(other);
  server.serve(rpc::make_descriptor_stream(io.get_executor(), other, other));
  client.connect(rpc::make_descriptor_stream(io.get_executor(), mine, mine));
}

Session::~Session() {
  server.stop();
  server.wait();
  CHECK_MESSAGE(client.violations.empty(),
                (client.violations.empty() ? "" : client.violations.front()));
}

} // namespace warpwright::tests
