// Language server: the protocol's methods over documents, facts, measurements and the optimizer.
//
// The server owns all mutable state on one strand, which never blocks: analyses, the ledger and the
// runner work on pools and post their results back. Thread: the strand; wait() from any.
#pragma once

#include "regions/report.h"
#include "server/binder.h"
#include "server/editor_client.h"
#include "server/features/features.h"
#include "server/features/machine_code.h"
#include "server/features/page_uri.h"
#include "server/optimizer.h"
#include "server/trust.h"
#include "server/workspace_files.h"

#include <boost/asio/steady_timer.hpp>

#include <set>

namespace warpwright::server {

/// Dependencies of the server, which tests replace.
struct LspEnvironment {
  Analyses analyses;
  Measurements::OpenLedger open_ledger;
  Optimizer::Connect connect_runner;
  Optimizer::Run optimize;
  std::function<Result<VariantEdits>(const std::string &path, const std::string &text, const runner::LedgerEntry &,
                                     const VariantForm &)>
      variant_edits;
  std::function<Result<std::vector<TextEdit>>(const Snapshot &, const std::string &kernel)>
      missing_facts_edits;
  std::function<std::string(const std::vector<ReportedKernel> &)> report; ///< may be unset
  std::function<std::string(const ReportedKernel &)> roofline; ///< SVG, drawn at once; may be unset
  /// Report of warpwright.optimize() about a class of a Python file. Called on a pool; may be unset.
  std::function<std::optional<regions::ModelReport>(const std::string &class_name,
                                                    const std::string &path)>
      model_report;
  /// Machine code of a plan for a compute capability (90 for 9.0). Called on a pool; may be unset.
  std::function<Result<features::MachineCode>(const model::Plan &, int capability)> machine_code;
  /// Writes a page for clients that open files only. @return its path. Called on a pool; may be unset.
  std::function<Result<std::string>(const std::string &name, const std::string &text)> write_page;
  std::string docs_url; ///< folder of the rules' pages
  consent::ApprovalStore approvals; ///< the user's approvals
  Settings settings; ///< command line settings, below the editor's
  unsigned analysis_threads = 2;
};

/// Place of a runner, for users: "on this machine", "gpu.example.org:4433"; never a token.
std::string runner_label(const std::string &url);

class LspServer {
public:
  using Json = protocol::Json;

  /// @param on_exit called once with the exit code when the session is over
  LspServer(boost::asio::any_io_executor strand, LspEnvironment environment,
            std::function<void(int)> on_exit);

  /// Serves one client; call once.
  void serve(std::unique_ptr<rpc::Stream> stream);
  /// Requests a stop of all work. wait() then blocks for the slowest step of the work.
  void stop();
  void wait();
  bool is_over() const { return phase_ == Phase::Over; }
  std::size_t pending_bytes() const { return connection_ ? connection_->pending_bytes() : 0; }

private:
  static constexpr const char *kUntrusted =
      "this folder is not trusted, so nothing of it is built or run. Answer Trust when you are "
      "asked, or run: warpwright trust FOLDER";
  enum class Phase { Starting, Running, ShutDown, Over };
  using EditCallback = std::function<void(std::expected<protocol::WorkspaceEdit, rpc::RpcError>)>;
  /// Edits of a command, valid for the current texts of the documents.
  struct MadeEdits {
    SnapshotPtr snapshot;
    std::vector<TextEdit> edits;
    std::optional<FileEdits> includer; ///< as in VariantEdits
  };
  using EditsCallback = std::function<void(std::expected<MadeEdits, rpc::RpcError>)>;
  using EditMaker = std::function<Result<VariantEdits>()>;

  void bind();
  void on_request(const std::string &method, const Json &params, const Json &id,
                  const rpc::Responder &respond);
  void on_notification(const std::string &method, const Json &params);
  void end(int exit_code);

  // Lifecycle and settings
  void initialize(protocol::InitializeParams params, Reply<Json> reply);
  void initialized(Json);
  void shutdown(Json, Reply<protocol::Null> reply);
  void watch_parent(std::int64_t process_id);
  void change_configuration(Json params);
  void use_settings(const Json &json);
  /// Asks the client for the settings of the session and of each open document.
  void request_settings();
  void request_settings_of(const std::string &uri);
  const Settings &settings_of(const std::string &uri) const;
  /// Publishes what is known of a document under its present settings.
  void show_again(const std::string &uri);
  /// The snapshot, or one without facts if the document's language is switched off.
  SnapshotPtr visible(const SnapshotPtr &snapshot) const;

  // Documents
  void did_open(protocol::DidOpenParams params);
  void did_change(protocol::DidChangeParams params);
  void did_close(protocol::TextDocumentParams params);
  void did_change_watched_files(protocol::DidChangeWatchedFilesParams params);
  void publish(const SnapshotPtr &snapshot);
  void publish_diagnostics(const SnapshotPtr &snapshot);
  std::vector<protocol::Diagnostic> diagnostics_of(const SnapshotPtr &snapshot);

  // Features
  void hover(protocol::TextDocumentPositionParams params,
             Reply<std::optional<protocol::Hover>> reply);
  /// Calls back with the report about the Python class whose name is at the position, if any.
  void with_report(const protocol::TextDocumentPositionParams &params,
                   std::function<void(std::optional<regions::ModelReport>)> callback);
  void code_lens(protocol::TextDocumentParams params, Reply<std::vector<protocol::CodeLens>> reply);
  void resolve_code_lens(protocol::CodeLens lens, Reply<protocol::CodeLens> reply);
  void code_action(protocol::CodeActionParams params, Reply<Json> reply);
  void resolve_code_action(Json action, Reply<Json> reply);
  void diagnostic(protocol::TextDocumentParams params, Reply<protocol::DiagnosticReport> reply);
  void inlay_hint(protocol::InlayHintParams params, Reply<std::vector<protocol::InlayHint>> reply);

  // Pages: documents of the server (features/page_uri.h)
  using PageCallback = std::function<void(std::expected<std::string, rpc::RpcError>)>;
  void text_document_content(protocol::TextDocumentContentParams params,
                             Reply<protocol::TextDocumentContent> reply);
  /// Has the client open a page: by its URI, or as a file where the client knows no such URIs.
  void open_page(const features::PageReference &page, Reply<Json> reply);
  void make_page(const features::PageReference &page, PageCallback callback);
  void make_review(const protocol::KernelReference &reference, PageCallback callback);
  void make_details(const protocol::KernelReference &reference, PageCallback callback);
  /// The code of a variant's task as written, and the variant.
  struct CodeOfBoth {
    Result<features::MachineCode> before, after;
  };
  void compile_both(const runner::LedgerEntry &entry,
                    std::function<void(const CodeOfBoth &)> callback);

  // Beyond the specification
  void details(protocol::KernelReference reference, Reply<protocol::DetailsResult> reply);
  void kernels(protocol::KernelsParams params, Reply<protocol::KernelsResult> reply);
  void variant(protocol::KernelReference reference, Reply<protocol::VariantText> reply);
  void runner(protocol::RunnerParams params, Reply<protocol::RunnerItem> reply);
  void test_runner(protocol::RunnerParams params, Reply<protocol::RunnerItem> reply);
  void report(protocol::KernelsParams params, Reply<protocol::ReportResult> reply);
  /// Calls back with snapshots of these files, read from disk if a file is not open; absent: all
  /// open files.
  void with_files(std::optional<std::vector<std::string>> uris,
                  std::function<void(const std::vector<SnapshotPtr> &)> callback);
  void load_measurements(const Snapshot &snapshot);
  /// Notes that this runner is being asked for its information.
  void expect_runner(const std::string &url);
  void ask_runner(const std::string &url);
  void follow_runner_setting();
  /// Name of the runner that would verify and measure the kernels of this document.
  std::string runner_name(const Snapshot &snapshot) const;
  void note_runner(const Result<runner::RunnerInfo> &info);

  // Commands
  void execute_command(protocol::ExecuteCommandParams params, Reply<Json> reply);
  void cancel_progress(protocol::ProgressToken params);
  void review_trust(const std::string &uri, Reply<Json> reply);
  void analyse_all();
  /// Starts the job of `command`: an optimization or a profile.
  void start_job(const std::string &command, const protocol::KernelReference &reference,
                 std::optional<Json> token, Reply<Json> reply);
  void run_job(const std::string &command, SnapshotPtr snapshot,
               const protocol::KernelReference &reference, std::optional<Json> token,
               Reply<Json> reply);
  /// The verified variant that a reference means: the one with its plan, else the best.
  std::expected<runner::LedgerEntry, rpc::RpcError>
  entry_of(const Snapshot &snapshot, const protocol::KernelReference &reference) const;
  /// The user's settings, completed by the project's.
  Settings settings_for(const Snapshot &snapshot) const;
  /// Shows the status of a job, at once or some time after the last display.
  void show_status(const std::string &path, const std::string &kernel);
  void hold_statuses();
  void run_edit_command(const std::string &command, const protocol::KernelReference &reference,
                        Reply<Json> reply);
  /// Makes the edit of `command` (apply, insert facts) on the document's current text.
  void make_edit(const std::string &command, const protocol::KernelReference &reference,
                 EditCallback callback);
  void make_edits(const std::string &command, const protocol::KernelReference &reference,
                  EditsCallback callback);
  std::expected<EditMaker, rpc::RpcError> edit_maker(const std::string &command,
                                                     const protocol::KernelReference &reference,
                                                     const SnapshotPtr &snapshot);

  features::Context context(const Snapshot &snapshot);
  KernelStatus status(const Snapshot &snapshot, const analysis::Kernel &kernel) const;
  /// Answers with compute(context) once the facts of the document's current version are known.
  template <class T, class Compute>
  void with_facts(const std::string &uri, Reply<T> reply, Compute compute);

  boost::asio::any_io_executor strand_;
  LspEnvironment environment_;
  std::function<void(int)> on_exit_;
  Phase phase_ = Phase::Starting;
  Settings settings_;                                ///< of the session
  std::map<std::string, Settings> document_settings_; ///< by URI, where the client has scopes
  std::map<std::string, std::int64_t> published_;     ///< versions, for clients that pull diagnostics
  std::string runner_name_;
  protocol::RunnerItem runner_;
  std::optional<std::string> asked_runner_; ///< URL of the runner that was asked last
  /// The last runner tried by its URL, and the result. Choosing this runner needs no second
  /// request.
  std::optional<std::pair<std::string, Result<runner::RunnerInfo>>> probed_;
  Binder binder_;
  EditorClient client_;
  std::shared_ptr<rpc::Connection> connection_;
  std::shared_ptr<void> parent_watch_;
  Documents documents_;
  Pool pool_;
  Pool probes_{1}; ///< test connections
  WorkspaceFiles files_;
  Scheduler scheduler_;
  Measurements measurements_;
  Optimizer optimizer_;
  Trust trust_;
  /// Keeps the problem of a module until its source changes or the module is optimized again.
  void note_problem(const std::string &path, const std::string &kernel, ModuleProblem problem);
  /// Problems of the snapshot's modules as diagnostics.
  std::vector<protocol::Diagnostic> problems_of(const Snapshot &snapshot) const;

  struct KnownProblem {
    std::string source_hash;
    ModuleProblem problem;
  };
  std::map<std::pair<std::string, std::string>, KnownProblem> problems_; ///< by path and kernel
  struct Running {
    std::shared_ptr<Progress> progress;
  };
  std::map<std::pair<std::string, std::string>, Running> running_; ///< by path and kernel
  boost::asio::steady_timer status_timer_{strand_};
  bool is_holding_statuses_ = false;
  std::set<std::pair<std::string, std::string>> held_statuses_; ///< to be shown when the timer ends
};

template <class T, class Compute>
void LspServer::with_facts(const std::string &uri, Reply<T> reply, Compute compute) {
  if (!documents_.find(uri))
    return reply(refuse(rpc::kInvalidParams, "the document " + uri + " is not open"));
  scheduler_.with_snapshot(uri, [this, reply, compute, uri](const SnapshotPtr &snapshot) {
    if (!snapshot)
      return reply(refuse(rpc::kContentModified, "the document " + uri + " was closed"));
    reply(compute(context(*visible(snapshot))));
  });
}

} // namespace warpwright::server
