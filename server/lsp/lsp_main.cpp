// Setup of the language server in this process: stdin and stdout, the ledger, the runner and the
// analyses.
#include "server/lsp/lsp_main.h"

#include "server/docs_page.h"
#include "server/lsp/lsp_server.h"
#include "server/optimize/machine_code.h"
#include "server/optimize/optimize_module.h"
#include "server/optimize/policies.h"
#include "server/protocol/uri.h"
#include "server/standard_streams.h"
#include "support/files.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace warpwright::server {

namespace {

/// Time after the session until unfinished work is abandoned. Editors kill the process after two
/// seconds.
constexpr std::chrono::milliseconds kGrace{1'500};

/// URI of the folder of the rules' pages; empty without pages.
std::string docs_uri() {
  const std::string folder = find_docs_page("rules");
  return folder.empty() ? "" : protocol::uri_of(folder);
}

/// Writes a page into a folder that only the user can read, for editors that open files only.
Result<std::string> write_page(const std::string &name, const std::string &text) {
  const char *runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::filesystem::path folder =
      runtime && *runtime ? std::filesystem::path(runtime) / "warpwright"
                          : runner::Ledger::default_path().parent_path() / "pages";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  if (error)
    return fail("cannot make the folder " + folder.string() + ": " + error.message());
  TRY(write_atomically(folder / name, text));
  return (folder / name).string();
}

/// Makes the edits and writes the plan file, because an edit of a text cannot add another file. The
/// plan file is small and named by its plan, so it does no harm if the client drops the edits.
Result<VariantEdits> edits_with_plan_file(const std::string &path, const std::string &text,
                                          const runner::LedgerEntry &entry, const VariantForm &form) {
  auto edits = variant_edits(path, text, entry, form);
  const auto file = edits ? plan_file_of(entry, form) : std::nullopt;
  if (!file)
    return edits;
  const auto written = write_atomically(std::filesystem::path(path).parent_path() / file->name, file->text);
  return written ? edits : std::unexpected(written.error());
}

LspEnvironment make_environment(const LspOptions &options) {
  LspEnvironment environment;
  environment.analyses = make_analyses();
  environment.open_ledger = [path = options.ledger] {
    return runner::Ledger::open(path.empty() ? runner::Ledger::default_path() : path);
  };
  environment.connect_runner = runner::BlockingClient::connect;
  const auto policies = std::make_shared<Policies>(environment.open_ledger); // used by the optimizer's one thread
  environment.optimize = [policies](const OptimizeRequest &request, runner::BlockingClient &client,
                                    const OptimizeEvents &events, std::stop_token stop) {
    return request.profiled ? profile(request, client, events, std::move(stop))
                            : optimize(request, client, *policies, events, std::move(stop));
  };
  environment.variant_edits = edits_with_plan_file;
  environment.missing_facts_edits = missing_facts_edits;
  environment.report = report_page;
  environment.roofline = roofline_of;
  environment.machine_code = machine_code_of;
  environment.write_page = write_page;
  environment.model_report = [](const std::string &class_name, const std::string &path) {
    return regions::read_report(regions::Store::default_root(), class_name, path);
  };
  environment.docs_url = docs_uri();
  environment.settings.runner = options.runner;
  return environment;
}

} // namespace

int run_lsp(const LspOptions &options) {
  const auto streams = take_standard_streams();
  if (!streams) {
    std::cerr << "warpwright lsp: " << describe(streams.error()) << '\n';
    return 1;
  }

  boost::asio::io_context io;
  int exit_code = 1;
  LspServer server(io.get_executor(), make_environment(options),
                   [&](int code) { exit_code = code; });
  const auto work = boost::asio::make_work_guard(io);
  server.serve(rpc::make_descriptor_stream(io.get_executor(), streams->input, streams->output));
  while (!server.is_over())
    io.run_one();
  while (server.pending_bytes() > 0 && io.run_one_for(kGrace) > 0) { // finish pending writes
  }

  finish_in_time([&] { server.wait(); }, exit_code);
  return exit_code;
}

} // namespace warpwright::server
