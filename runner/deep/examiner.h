// The service's side of an examination: one child process that runs the tools and is controlled
// over JSON-RPC like a worker, while the device's queue waits.
//
// If the child dies or does not answer in time, only its checks are lost ("not run"), and the
// worker's verdict stands. The child gets the environment variables of workers, those with the
// tools' paths, and its own folder for HOME, temporary files and compiled code. It is not isolated
// otherwise, because tools inject themselves into processes. Thread: the service's strand.
#pragma once

#include "runner/isolation/private_directory.h"
#include "support/model/verdict.h"
#include "support/model/verify_options.h"
#include "support/process.h"
#include "support/rpc/connection.h"

#include <boost/asio/steady_timer.hpp>

namespace warpwright::runner::deep {

struct ExaminerJob {
  rpc::Json request; ///< {task, plan, options} as sent to the worker
  model::VerifyOptions options;
  model::Verdict verdict;           ///< the worker's verdict
  std::string device;               ///< "cuda:0"
  std::vector<std::string> command; ///< of the child: {this executable, "examine"}
  std::function<void(const std::string &activity)> on_activity;
  /// Called once, unless the examiner is destroyed before, with the complete verdict. After
  /// cancel(), called with the worker's verdict. The examination no longer uses the device then.
  std::function<void(model::Verdict)> done;
};

/// The job without its callbacks. nullopt: no examination is requested, tools are not permitted, or
/// the device is no GPU; in the latter two cases, checks that say so are added to `verdict`.
/// @param no_tools why tools may not run; empty: they may
/// @param verdict the worker's, as JSON
std::optional<ExaminerJob> examiner_job(const rpc::Json &request,
                                        const model::VerifyOptions &options,
                                        const std::string &device, const std::string &no_tools,
                                        rpc::Json &verdict);

class Examiner : public std::enable_shared_from_this<Examiner> {
public:
  Examiner(boost::asio::any_io_executor executor, ExaminerJob job);
  /// Starts the child. Never calls `done` before it returns.
  void start();
  /// Ends the tools; `done` follows.
  void cancel();

private:
  void on_answer(const rpc::Outcome &outcome);
  void close(const std::string &why);
  void on_closed();
  void reap(int tries);
  void finish();

  boost::asio::any_io_executor executor_;
  ExaminerJob job_;
  std::optional<PrivateDirectory> directory_; ///< the process's HOME and temporary files
  std::optional<Process> process_;
  std::shared_ptr<rpc::Connection> connection_;
  boost::asio::steady_timer timer_;
  std::optional<model::Verdict> answer_;
  std::string why_; ///< why there is no answer
};

} // namespace warpwright::runner::deep
