#include "server/mcp/workbench.h"

#include "analysis/guard/guard.h"
#include "analysis/python/module_facts.h"
#include "runner/connect/choose_device.h"
#include "server/cli/check/affected_files.h"
#include "support/log.h"
#include "support/words.h"

#include <algorithm>

namespace warpwright::mcp {
namespace {

namespace fs = std::filesystem;

bool is_below(const std::string &folder, const std::string &path) {
  return path.starts_with(folder.ends_with('/') ? folder : folder + "/");
}

} // namespace

Workbench::Workbench(WorkbenchOptions options, consent::ApprovalStore store)
    : options_(std::move(options)), approval_(std::move(store), options_.root) {}

Result<std::unique_ptr<Workbench>> Workbench::open(WorkbenchOptions options,
                                                   consent::ApprovalStore store) {
  options.root = consent::real_path(fs::absolute(options.root.empty() ? "." : options.root).string());
  while (options.root.size() > 1 && options.root.ends_with('/'))
    options.root.pop_back();
  std::error_code error;
  if (!fs::is_directory(options.root, error))
    return fail(options.root + " is not a folder", "Name the project's folder with --root");
  const bool is_default = options.ledger.empty();
  auto ledger = runner::Ledger::open(is_default ? runner::Ledger::default_path() : options.ledger);
  if (!ledger && !is_default)
    return std::unexpected(ledger.error());
  if (!ledger)
    log::warning("verdicts are kept in this session only: " + describe(ledger.error()));
  std::unique_ptr<Workbench> bench(new Workbench(std::move(options), std::move(store)));
  if (ledger)
    bench->ledger_.with([&](auto &kept) { kept = std::move(*ledger); });
  return bench;
}

Result<std::string> Workbench::path_of(const std::string &name) const {
  const fs::path given = fs::path(name).is_absolute() ? fs::path(name) : fs::path(root()) / name;
  const std::string path = consent::real_path(given.lexically_normal().string());
  if (!is_below(root(), path))
    return fail(name + " is outside of the project " + root(),
                "Only the user can open another folder: warpwright mcp --root FOLDER");
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    return fail("there is no file " + name + " in " + root(), "Check the path");
  if (!cli::may_hold_kernels(path))
    return fail(name + " is not a source file of CUDA, Python or C++",
                "Name a .cu, .cuh, .py or .cpp file, or a header");
  return path;
}

std::string Workbench::shown(const std::string &path) const {
  return is_below(root(), path) ? fs::path(path).lexically_relative(root()).string() : path;
}

Result<cli::Input> Workbench::read(const ToolCall &call) const {
  const std::string path = TRY(path_of(call.text("file")));
  cli::InputReader reader;
  cli::Input input = call.has("text") ? reader.read(path, call.text("text")) : TRY(reader.read(path));
  if (const analysis::Diagnostic *reason = analysis::why_not_analysed(input.facts))
    return fail(shown(path) + ": " + reason->message);
  return input;
}

Outcome<void> Workbench::require_approval(const ToolCall &call, cli::Input &input) {
  const bool is_news = TRY(approval_.require(call, input.file.path, input.settings.project.file));
  if (is_news)
    input = cli::InputReader().read(input.file.path, std::string(input.file.text));
  return {};
}

Result<ClientPtr> Workbench::runner_for(const config::ProjectConfig &project) {
  const std::string url = TRY(server::runner_of(project, options_.runner));
  return clients_.with([&](auto &clients) -> Result<ClientPtr> {
    if (const auto known = clients.find(url); known != clients.end())
      return known->second;
    ClientPtr client = TRY(runner::BlockingClient::connect(url));
    clients.emplace(url, client);
    return client;
  });
}

void Workbench::forget(const ClientPtr &client) {
  clients_.with([&](auto &clients) {
    std::erase_if(clients, [&](const auto &known) { return known.second == client; });
  });
}

Result<model::DeviceInfo> Workbench::device_of(runner::BlockingClient &client) const {
  const runner::RunnerInfo info = TRY(client.info());
  return runner::choose_device(info, options_.device);
}

Result<void> Workbench::record(const runner::LedgerEntry &entry) {
  verdicts.add(entry);
  return ledger_.with([&](auto &ledger) { return ledger ? ledger->record(entry) : Result<void>(); });
}

server::KernelStatus Workbench::status_of(const server::Snapshot &snapshot,
                                          const analysis::Kernel &kernel) {
  auto history = ledger_.with([&](auto &ledger) {
    return ledger ? ledger->of_kernel(snapshot.facts.path, kernel.name)
                  : Result<runner::KernelHistory>();
  });
  auto entries = std::make_shared<server::Entries>();
  if (history)
    *entries = std::move(history->entries);
  else
    log::warning("the ledger cannot be read: " + describe(history.error()));
  for (const runner::LedgerEntry &entry : *entries)
    verdicts.add(entry); // so that results may name them
  const std::string hash = kernel.slice.empty() ? "" : server::source_hash(kernel.slice);
  return server::kernel_status(kernel, hash, std::move(entries), {});
}

Result<const analysis::Kernel *> kernel_of(const cli::Input &input, const std::string &name) {
  const auto &kernels = input.facts.kernels;
  const auto found = std::ranges::find_if(kernels, [&](const analysis::Kernel &kernel) {
    return kernel.name == name || kernel.qualified_name == name;
  });
  if (found != kernels.end())
    return &*found;
  if (kernels.empty())
    return std::unexpected(cli::explain_no_kernels(input, input.file.path));
  return fail("there is no kernel " + name + " in " + input.file.path,
              "There are: " + joined(kernels, ", ", &analysis::Kernel::name));
}

Result<const analysis::Kernel *> cuda_kernel_of(const cli::Input &input, const std::string &name,
                                                const std::string &tool) {
  const analysis::Kernel *kernel = TRY(kernel_of(input, name));
  if (kernel->task.task.module)
    return fail(tool + " takes CUDA kernels, and " + name + " is a torch module or function",
                "Use optimize: it measures the module, torch.compile and its own plans");
  return kernel;
}

server::SnapshotPtr snapshot_of(const cli::Input &input) {
  return std::make_shared<const server::Snapshot>(
      "", 0, std::make_shared<const std::string>(input.file.text),
      server::AnalysisResult{input.facts, {}}, server::protocol::PositionEncoding::Utf8);
}

} // namespace warpwright::mcp
