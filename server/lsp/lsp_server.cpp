// Lifecycle, settings and documents of a session.
#include "server/lsp/lsp_server.h"

#include "server/protocol/uri.h"
#include "support/version.h"

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <csignal>
#include <sys/syscall.h>
#include <unistd.h>

namespace warpwright::server {

LspServer::LspServer(boost::asio::any_io_executor strand, LspEnvironment environment,
                     std::function<void(int)> on_exit)
    : strand_(strand), environment_(std::move(environment)), on_exit_(std::move(on_exit)),
      settings_(environment_.settings), pool_(environment_.analysis_threads),
      files_(strand, pool_, environment_.analyses.stub),
      scheduler_(strand, pool_, environment_.analyses),
      measurements_(strand, environment_.open_ledger,
                    {.on_loaded = [this](const std::string &) { client_.refresh(); },
                     .on_error =
                         [this](const Error &error) {
                           client_.show_message(protocol::MessageType::Warning,
                                                "Warpwright keeps measurements for this session "
                                                "only: " +
                                                    describe(error));
                         },
                     .on_unreadable =
                         [this](const Error &error, std::size_t count) {
                           client_.show_message(protocol::MessageType::Warning,
                                                "Warpwright left out " + std::to_string(count) +
                                                    " earlier measurements: " + describe(error));
                         }}),
      optimizer_(
          strand, environment_.connect_runner, environment_.optimize,
          {.on_entry =
               [this](runner::LedgerEntry entry) { measurements_.record(std::move(entry)); },
           .on_status = [this](const std::string &path,
                               const std::string &kernel) { show_status(path, kernel); },
           .on_runner_lost =
               [this](const std::string &message) {
                 client_.show_message(protocol::MessageType::Error,
                                      "Warpwright's runner was lost: " + message);
               },
           .on_problem =
               [this](const std::string &path, const std::string &kernel, ModuleProblem problem) {
                 note_problem(path, kernel, std::move(problem));
               },
           .on_info =
               [this](const std::string &url, const Result<runner::RunnerInfo> &info) {
                 if (url == asked_runner_)
                   note_runner(info);
               }}),
      trust_(strand, pool_, client_, environment_.approvals) {
  bind();
  scheduler_.on_snapshot([this](const SnapshotPtr &snapshot) { publish(snapshot); });
}

void LspServer::bind() {
  binder_.request("initialize", this, &LspServer::initialize);
  binder_.request("shutdown", this, &LspServer::shutdown);
  binder_.request("textDocument/hover", this, &LspServer::hover);
  binder_.request("textDocument/codeLens", this, &LspServer::code_lens);
  binder_.request("codeLens/resolve", this, &LspServer::resolve_code_lens);
  binder_.request("textDocument/codeAction", this, &LspServer::code_action);
  binder_.request("codeAction/resolve", this, &LspServer::resolve_code_action);
  binder_.request("textDocument/diagnostic", this, &LspServer::diagnostic);
  binder_.request("textDocument/inlayHint", this, &LspServer::inlay_hint);
  binder_.request("workspace/textDocumentContent", this, &LspServer::text_document_content);
  binder_.request("workspace/executeCommand", this, &LspServer::execute_command);
  binder_.request("warpwright/kernels", this, &LspServer::kernels);
  binder_.request("warpwright/variant", this, &LspServer::variant);
  binder_.request("warpwright/details", this, &LspServer::details);
  binder_.request("warpwright/runner", this, &LspServer::runner);
  binder_.request("warpwright/testRunner", this, &LspServer::test_runner);
  binder_.request("warpwright/report", this, &LspServer::report);
  binder_.notification("initialized", this, &LspServer::initialized);
  binder_.notification("textDocument/didOpen", this, &LspServer::did_open);
  binder_.notification("textDocument/didChange", this, &LspServer::did_change);
  binder_.notification("textDocument/didClose", this, &LspServer::did_close);
  binder_.notification("workspace/didChangeWatchedFiles", this,
                       &LspServer::did_change_watched_files);
  binder_.notification("workspace/didChangeConfiguration", this, &LspServer::change_configuration);
  binder_.notification("window/workDoneProgress/cancel", this, &LspServer::cancel_progress);
}

void LspServer::serve(std::unique_ptr<rpc::Stream> stream) {
  connection_ = rpc::Connection::make(
      std::move(stream),
      {.on_request =
           [this](const std::string &method, const Json &params, const Json &id,
                  const rpc::Responder &respond) { on_request(method, params, id, respond); },
       .on_notification = [this](const std::string &method,
                                 const Json &params) { on_notification(method, params); },
       .on_closed = [this](const std::string &) { end(phase_ == Phase::ShutDown ? 0 : 1); }});
  client_.connect(connection_);
  connection_->start();
}

void LspServer::on_request(const std::string &method, const Json &params, const Json &id,
                           const rpc::Responder &respond) {
  if (phase_ == Phase::Starting && method != "initialize")
    return respond(refuse(rpc::kServerNotInitialized, "send 'initialize' first"));
  if (phase_ == Phase::Running && method == "initialize")
    return respond(refuse(rpc::kInvalidRequest, "the session is initialized already"));
  if (phase_ == Phase::ShutDown || phase_ == Phase::Over)
    return respond(refuse(rpc::kInvalidRequest, "the session was shut down"));
  binder_.dispatch_request(method, params, id, respond);
}

void LspServer::on_notification(const std::string &method, const Json &params) {
  if (method == "exit")
    return end(phase_ == Phase::ShutDown ? 0 : 1);
  if (phase_ != Phase::Running)
    return;
  if (const auto handled = binder_.dispatch_notification(method, params); !handled)
    client_.log(describe(handled.error()));
}

void LspServer::end(int exit_code) {
  if (std::exchange(phase_, Phase::Over) == Phase::Over)
    return;
  stop();
  client_.disconnect();
  if (connection_)
    connection_->close();
  on_exit_(exit_code);
}

void LspServer::stop() {
  binder_.stop_all();
  files_.stop();
  status_timer_.cancel();
  scheduler_.stop();
  optimizer_.stop();
}

void LspServer::wait() {
  optimizer_.join();
  probes_.join();
  pool_.join();
  measurements_.stop();
}

void LspServer::initialize(protocol::InitializeParams params, Reply<Json> reply) {
  client_.capabilities = protocol::read_capabilities(params.capabilities);
  documents_.set_encoding(client_.capabilities.encoding);
  phase_ = Phase::Running;
  std::vector<std::string> folders;
  for (const auto &folder :
       params.workspace_folders.value_or(std::vector<protocol::WorkspaceFolder>{}))
    folders.push_back(protocol::path_of(folder.uri));
  if (folders.empty() && params.root_uri)
    folders.push_back(protocol::path_of(*params.root_uri));
  trust_.set_folders(std::move(folders));
  reply(protocol::initialize_result(client_.capabilities, version()));
  use_settings(params.initialization_options.value_or(Json()));
  if (params.process_id)
    watch_parent(*params.process_id);
}

void LspServer::initialized(Json) {
  client_.watch_files();
  request_settings();
}

void LspServer::shutdown(Json, Reply<protocol::Null> reply) {
  phase_ = Phase::ShutDown;
  stop();
  reply(protocol::Null{});
}

void LspServer::watch_parent(std::int64_t process_id) {
  const int descriptor =
      static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(process_id), 0));
  if (descriptor < 0) {
    if (errno == ESRCH)
      end(1);
    else
      client_.log("cannot watch the editor's process: the end of stdin ends the session");
    return;
  }
  auto watch = std::make_shared<boost::asio::posix::stream_descriptor>(strand_, descriptor);
  parent_watch_ = watch;
  watch->async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [this](boost::system::error_code error) {
                      if (!error)
                        end(1);
                    });
}

void LspServer::did_open(protocol::DidOpenParams params) {
  const std::string uri = params.text_document.uri;
  scheduler_.update(documents_.open(std::move(params.text_document)), documents_.encoding());
  request_settings_of(uri);
}

void LspServer::did_change(protocol::DidChangeParams params) {
  if (const Document *document = documents_.change(params))
    scheduler_.update(*document, documents_.encoding());
}

void LspServer::did_close(protocol::TextDocumentParams params) {
  const std::string &uri = params.text_document.uri;
  if (!documents_.find(uri))
    return;
  documents_.close(uri);
  scheduler_.close(uri);
  document_settings_.erase(uri);
  published_.erase(uri);
  if (!client_.capabilities.pull_diagnostics)
    client_.publish({uri, std::nullopt, {}}); // else the editor keeps showing diagnostics
}

/// A changed configuration affects every document. A changed Python file affects Python documents,
/// which may import it.
void LspServer::did_change_watched_files(protocol::DidChangeWatchedFilesParams params) {
  const bool concerns_all = std::ranges::any_of(params.changes, [](const auto &change) {
    return change.uri.ends_with("/.warpwright.toml") ||
           change.uri.ends_with("/compile_commands.json");
  });
  const bool concerns_python = std::ranges::any_of(
      params.changes, [](const auto &change) { return change.uri.ends_with(".py"); });
  for (const auto &[uri, document] : documents_.all())
    if (concerns_all || (concerns_python && document.path.ends_with(".py")))
      scheduler_.update(document, documents_.encoding());
}

void LspServer::analyse_all() {
  for (const auto &[uri, document] : documents_.all())
    scheduler_.update(document, documents_.encoding());
}

void LspServer::publish(const SnapshotPtr &snapshot) {
  publish_diagnostics(snapshot);
  load_measurements(*snapshot);
  trust_.mention(snapshot, settings_.trusted, [this](const Result<Trust::Answer> &answer) {
    if (!answer)
      return client_.show_message(protocol::MessageType::Error, describe(answer.error()));
    if (*answer == Trust::Answer::GrantedMore)
      analyse_all();
  });
  if (snapshot->facts.pass == analysis::Pass::Full)
    client_.refresh();
}

void LspServer::publish_diagnostics(const SnapshotPtr &snapshot) {
  if (!client_.capabilities.pull_diagnostics)
    return client_.publish({snapshot->uri, snapshot->version, diagnostics_of(snapshot)});
  // The client asks once for each version by itself. It is told when there is more to say of one.
  if (std::exchange(published_[snapshot->uri], snapshot->version) == snapshot->version)
    client_.refresh_diagnostics();
}

std::vector<protocol::Diagnostic> LspServer::diagnostics_of(const SnapshotPtr &snapshot) {
  const SnapshotPtr shown = visible(snapshot);
  std::vector<protocol::Diagnostic> diagnostics = features::diagnostics(context(*shown));
  for (protocol::Diagnostic &problem : problems_of(*shown))
    diagnostics.push_back(std::move(problem));
  return diagnostics;
}

void LspServer::load_measurements(const Snapshot &snapshot) {
  std::vector<std::string> kernels;
  for (const analysis::Kernel &kernel : snapshot.facts.kernels)
    kernels.push_back(kernel.name);
  measurements_.load(snapshot.facts.path, kernels);
}

void LspServer::note_problem(const std::string &path, const std::string &kernel,
                             ModuleProblem problem) {
  for (const auto &[uri, document] : documents_.all()) {
    const SnapshotPtr snapshot = scheduler_.latest(uri);
    const analysis::Kernel *found =
        snapshot && document.path == path ? snapshot->find_kernel(kernel) : nullptr;
    if (!found)
      continue;
    const auto index = static_cast<std::size_t>(found - snapshot->facts.kernels.data());
    problems_[{path, kernel}] = {snapshot->source_hashes[index], std::move(problem)};
    return publish(snapshot);
  }
}

std::vector<protocol::Diagnostic> LspServer::problems_of(const Snapshot &snapshot) const {
  std::vector<protocol::Diagnostic> result;
  for (std::size_t i = 0; i < snapshot.facts.kernels.size(); ++i) {
    const analysis::Kernel &kernel = snapshot.facts.kernels[i];
    const auto known = problems_.find({snapshot.facts.path, kernel.name});
    if (known != problems_.end() && known->second.source_hash == snapshot.source_hashes[i] &&
        !settings_of(snapshot.uri).disabled_rules.contains(known->second.problem.rule))
      result.push_back(features::problem_diagnostic(snapshot, kernel, known->second.problem,
                                                    environment_.docs_url));
  }
  return result;
}

features::Context LspServer::context(const Snapshot &snapshot) {
  return {snapshot,
          [this, &snapshot](const analysis::Kernel &kernel) { return status(snapshot, kernel); },
          settings_of(snapshot.uri),
          client_.capabilities,
          runner_name(snapshot),
          environment_.docs_url};
}

KernelStatus LspServer::status(const Snapshot &snapshot, const analysis::Kernel &kernel) const {
  const auto index = static_cast<std::size_t>(&kernel - snapshot.facts.kernels.data());
  const std::string &path = snapshot.facts.path;
  return kernel_status(kernel, snapshot.source_hashes[index], measurements_.of(path, kernel.name),
                       optimizer_.status(path, kernel.name));
}

} // namespace warpwright::server
