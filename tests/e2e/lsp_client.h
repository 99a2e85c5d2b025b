// A scripted editor for tests: speaks the protocol over any stream and checks every message of the
// server against the specification's meta model.
//
// Calls block and run the event loop until what they wait for is there; a patience of 60 s stands
// for "never". The texts of documents are kept, and edits that the server asks for are applied to
// them as an editor would.
#pragma once

#include "server/protocol/position.h"
#include "support/process.h"
#include "support/rpc/connection.h"
#include "tests/server/meta_model.h"

#include <boost/asio/io_context.hpp>

namespace warpwright::tests {

struct Received {
  std::string method;
  Json params;
};

class LspClient {
public:
  explicit LspClient(boost::asio::io_context &io);
  ~LspClient();

  void connect(std::unique_ptr<rpc::Stream> stream);
  /// Starts `command` and talks to its standard streams.
  void start(const std::vector<std::string> &command, const ProcessOptions &options = {});

  /// The default capabilities: all that this server has a use for.
  static Json capabilities();
  /// initialize and initialized, as a client whose user trusts the workspace unless `extra` says
  /// other initializationOptions. @return the result of initialize
  Json initialize(Json capabilities = LspClient::capabilities(), Json extra = Json::object());
  /// @return the exit code of the started process
  int shutdown_and_exit();

  rpc::Outcome request(const std::string &method, Json params);
  /// Does not wait. @return the id; the answer arrives in outcome(id)
  std::int64_t send_request(const std::string &method, Json params);
  const rpc::Outcome *outcome(std::int64_t id) const;
  void notify(const std::string &method, Json params) {
    connection_->notify(method, std::move(params));
  }
  void cancel(std::int64_t id) { connection_->cancel(id); }
  /// Ends the stream from this side, as an editor that dies does.
  void hang_up() { connection_->close(); }

  void open(const std::string &uri, const std::string &text, std::int64_t version = 1);
  /// Replaces the first occurrence of `what`, sent as an incremental change.
  void edit(const std::string &uri, const std::string &what, const std::string &replacement);
  /// Applies a workspace edit to the kept texts and tells the server, as an editor does.
  void apply(const Json &workspace_edit);
  const std::string &text(const std::string &uri) const { return documents_.at(uri).text; }
  std::int64_t version(const std::string &uri) const { return documents_.at(uri).version; }
  /// {"textDocument": ..., "position": ...} of the first occurrence of `what`, `skip` characters
  /// into it.
  Json position_params(const std::string &uri, const std::string &what, std::size_t skip = 0) const;
  Json range_of(const std::string &uri, const std::string &what) const;

  /// Diagnostics published for this version.
  Json wait_for_diagnostics(const std::string &uri, std::int64_t version);
  /// Runs the loop until `done`; false when patience runs out.
  bool wait(const std::function<bool()> &done);
  std::size_t count(const std::string &method) const;
  /// Of server requests and notifications, in order.
  const std::vector<Received> &received() const { return received_; }
  std::optional<std::string> closed() const { return closed_; }
  Process &process() { return *process_; }
  /// Waits for the started process. @return its exit code, or -signal
  int wait_for_exit();

  Json configuration = Json::object(); ///< what workspace/configuration answers
  std::map<std::string, Json> scoped_configuration; ///< answers for single documents, by their URI
  std::string answer;                  ///< to window/showMessageRequest, where it is offered
  bool accept_edits = true;            ///< whether workspace/applyEdit is applied
  Violations violations;               ///< of every message so far
  bool has_meta_model() const { return meta_model_.has_value(); }

private:
  struct OpenDocument {
    std::string text;
    std::int64_t version;
  };
  void on_request(const std::string &method, const Json &params, const rpc::Responder &respond);
  void note(const Violations &found) {
    violations.insert(violations.end(), found.begin(), found.end());
  }

  boost::asio::io_context &io_;
  std::optional<MetaModel> meta_model_ = MetaModel::load();
  std::optional<Process> process_;
  std::shared_ptr<rpc::Connection> connection_;
  std::map<std::int64_t, rpc::Outcome> outcomes_;
  std::map<std::string, OpenDocument> documents_;
  std::vector<Received> received_;
  std::optional<std::string> closed_;
};

} // namespace warpwright::tests
