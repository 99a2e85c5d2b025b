// The service's side of an examination: one child process that runs the tools, asked over JSON-RPC like a
// worker, while the device's queue waits.
//
// A child that dies, or does not answer in time, costs the checks ("not run") and nothing else: the worker's
// verdict stands. It gets the variables that workers get and the tools' places, and a folder of its own for HOME, temporary files
// and compiled code; it is not isolated otherwise, because tools inject themselves. Thread: the service's strand.
#pragma once

#include "runner/isolation/private_directory.h"
#include "support/model/verdict.h"
#include "support/model/verify_options.h"
#include "support/process.h"
#include "support/rpc/connection.h"

#include <boost/asio/steady_timer.hpp>

namespace warpwright::runner::deep {

struct ExaminerJob {
  rpc::Json request; ///< {task, plan, options} as the worker took it
  model::VerifyOptions options;
  model::Verdict verdict;           ///< the worker's
  std::string device;               ///< "cuda:0"
  std::vector<std::string> command; ///< of the child; {this executable, "examine"}
  std::function<void(const std::string &activity)> on_activity;
  /// Once, unless the examiner is destroyed before: with the verdict, complete; or, after cancel(), with the
  /// worker's. Nothing of the examination runs on the device any more.
  std::function<void(model::Verdict)> done;
};

/// The job, but for its callbacks; nullopt when none was asked for, tools may not run, or there is no GPU to examine on: then
/// `verdict`, the worker's as JSON, is given the notes that say so.
/// @param no_tools why tools may not run; empty: they may
std::optional<ExaminerJob> examiner_job(const rpc::Json &request,
                                        const model::VerifyOptions &options,
                                        const std::string &device, const std::string &no_tools,
                                        rpc::Json &verdict);

class Examiner : public std::enable_shared_from_this<Examiner> {
public:
  Examiner(boost::asio::any_io_executor executor, ExaminerJob job);
  /// `done` is never called from within.
  void start();
  /// Ends the tools; done() follows.
  void cancel();

private:
  void on_answer(const rpc::Outcome &outcome);
  void close(const std::string &why);
  void on_closed();
  void reap(int tries);
  void finish();

  boost::asio::any_io_executor executor_;
  ExaminerJob job_;
  std::optional<PrivateDirectory> directory_; ///< of the process: its HOME and its temporary files
  std::optional<Process> process_;
  std::shared_ptr<rpc::Connection> connection_;
  boost::asio::steady_timer timer_;
  std::optional<model::Verdict> answer_;
  std::string why_; ///< there is no answer
};

} // namespace warpwright::runner::deep
