// Client side of the session: requests and notifications to the editor, each sent only if the
// editor's capabilities allow it. Thread: the strand.
#pragma once

#include "server/protocol/lifecycle.h"
#include "support/rpc/connection.h"

namespace warpwright::server {

class EditorClient;

/// Progress of one piece of work in the editor's display; silent if the client has no such display.
/// The destructor ends the progress.
class Progress {
public:
  ~Progress();
  void report(const std::string &message, std::uint32_t percentage);
  void end(const std::string &message);

private:
  friend class EditorClient;
  struct State;
  explicit Progress(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

class EditorClient {
public:
  using Json = protocol::Json;

  void connect(std::shared_ptr<rpc::Connection> connection) { connection_ = std::move(connection); }
  void disconnect();
  protocol::ClientCapabilities capabilities;

  void publish(const protocol::PublishDiagnosticsParams &params);
  void show_message(protocol::MessageType type, const std::string &message);
  /// Shows a question with buttons.
  /// @param done gets the chosen answer; nullopt if the user or the client chose none
  void ask(const std::string &message, const std::vector<std::string> &answers,
           std::function<void(std::optional<std::string>)> done);
  void log(const std::string &message);
  /// Asks the editor to request lenses and hints again; calls during an open request are merged.
  /// Tells a client that lists kernels that the list may have changed.
  void refresh();
  /// Registers for changes on disk, if the editor supports the registration.
  void watch_files();
  /// Tells the editor to ask for diagnostics again.
  void refresh_diagnostics();
  /// Requests the configuration section "warpwright". The callback is not called if the client has
  /// no configuration or answers with an error.
  /// @param scope_uri document whose settings are wanted; empty: those of the session
  void request_configuration(const std::string &scope_uri,
                             std::function<void(const Json &)> callback);
  /// Errors (passed to the callback): the client cannot show documents, or did not show this one.
  void show_document(const std::string &uri, std::function<void(Result<void>)> callback);
  /// Errors (passed to the callback): the client refused the edit, or cannot apply edits.
  void apply_edit(const protocol::ApplyEditParams &params,
                  std::function<void(Result<void>)> callback);

  /// @param token the token of the client's request, if it had one; else a token is created
  /// @param on_cancel called when the user cancels
  std::shared_ptr<Progress> begin_progress(const std::string &title, std::optional<Json> token,
                                           std::function<void()> on_cancel);
  void cancel_progress(const Json &token);

private:
  struct Refresh {
    bool is_out = false, again = false;
  };
  void refresh(const char *method, std::shared_ptr<Refresh> state);

  std::shared_ptr<rpc::Connection> connection_;
  std::shared_ptr<Refresh> lens_refresh_ = std::make_shared<Refresh>();
  std::shared_ptr<Refresh> diagnostic_refresh_ = std::make_shared<Refresh>();
  std::shared_ptr<Refresh> hint_refresh_ = std::make_shared<Refresh>();
  std::map<Json, std::weak_ptr<Progress::State>> progress_;
  std::int64_t next_token_ = 1;
};

} // namespace warpwright::server
