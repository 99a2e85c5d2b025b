// Steps: start, request, answer or an error, connection closed, process ended, done. Closing the
// connection tells the child to end its tools and then itself.
#include "runner/deep/examiner.h"
#include "runner/deep/examination.h"
#include "runner/deep/tools.h"
#include "runner/isolation/isolation.h"
#include "support/model/json.h"

#include <boost/asio/post.hpp>
#include <csignal>
#include <filesystem>

namespace warpwright::runner::deep {
namespace {

using rpc::Json;

/// Time beyond the job's timeout in which the child ends its tools and answers.
constexpr std::chrono::seconds kGrace{15};
constexpr std::chrono::milliseconds kReapInterval{10};
constexpr int kReapTries = 1500;

ProcessOptions options_in(const std::filesystem::path &directory) {
  ProcessOptions options{.inherited = inherited_variables(),
                         .working_directory = directory.string()};
  for (const char *variable : {"HOME", "TMPDIR", "XDG_CACHE_HOME"})
    options.environment.push_back(std::string(variable) + "=" + directory.string());
  for (const Tool tool : {Tool::ComputeSanitizer, Tool::Ncu})
    options.inherited.push_back(variable_of(tool));
  return options;
}

} // namespace

std::optional<ExaminerJob> examiner_job(const Json &request, const model::VerifyOptions &options,
                                        const std::string &device, const std::string &no_tools,
                                        Json &verdict) {
  if (!options.deep && !options.profile)
    return std::nullopt;
  auto decoded = model::verdict_from_json(verdict);
  if (!decoded || !wants_examination(options, *decoded))
    return std::nullopt;
  const std::string why =
      !no_tools.empty() ? no_tools
      : decoded->device.kind != "cuda"
          ? "the tools examine GPUs; the CPU backend has its own checks"
          : "";
  if (!why.empty()) {
    add_not_run(options, why, *decoded);
    verdict = model::to_json(*decoded);
    return std::nullopt;
  }
  ExaminerJob job;
  job.request = request;
  job.options = options;
  job.verdict = std::move(*decoded);
  job.device = device;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  job.command = {error ? "warpwright-runner" : self.string(), "examine"};
  return job;
}

Examiner::Examiner(boost::asio::any_io_executor executor, ExaminerJob job)
    : executor_(executor), job_(std::move(job)), timer_(executor) {}

void Examiner::start() {
  directory_ = PrivateDirectory::make();
  auto process = directory_ ? Process::spawn(job_.command, options_in(directory_->path()))
                            : fail("no private folder for the tools",
                                   "Set TMPDIR to a folder that can be written");
  if (!process) {
    why_ = describe(process.error());
    return boost::asio::post(executor_, [weak = weak_from_this()] {
      if (const auto self = weak.lock())
        self->finish();
    });
  }
  process_ = std::move(*process);
  rpc::Connection::Handlers handlers;
  handlers.on_notification = [weak = weak_from_this()](const std::string &method,
                                                       const Json &params) {
    if (const auto self = weak.lock(); self && method == "stage" && params.is_object())
      self->job_.on_activity(params.value("activity", ""));
  };
  handlers.on_closed = [weak = weak_from_this()](const std::string &) {
    if (const auto self = weak.lock())
      self->on_closed();
  };
  const int out = process_->release_stdout(), in = process_->release_stdin();
  connection_ =
      rpc::Connection::make(rpc::make_descriptor_stream(executor_, out, in), std::move(handlers));
  connection_->start();
  Json request = job_.request;
  request["verdict"] = model::to_json(job_.verdict);
  request["device"] = job_.device;
  connection_->request("examine", std::move(request),
                       [weak = weak_from_this()](const rpc::Outcome &outcome) {
                         if (const auto self = weak.lock())
                           self->on_answer(outcome);
                       });
  timer_.expires_after(job_.options.timeout + kGrace);
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    if (const auto self = weak.lock(); !error && self)
      self->close("the examination did not end within the job's time");
  });
}

void Examiner::cancel() { close("the job was cancelled"); }

void Examiner::on_answer(const rpc::Outcome &outcome) {
  if (!outcome)
    return close("the examination ended: " + outcome.error().message);
  auto verdict = model::verdict_from_json(*outcome);
  if (!verdict)
    return close("the examination's answer: " + describe(verdict.error()));
  answer_ = std::move(*verdict);
  close("");
}

void Examiner::close(const std::string &why) {
  if (why_.empty())
    why_ = why;
  if (const auto connection = connection_)
    connection->close(); // on_closed follows and releases the connection
}

void Examiner::on_closed() {
  timer_.cancel();
  if (std::exchange(connection_, nullptr))
    reap(0);
}

void Examiner::reap(int tries) {
  if (process_->poll())
    return finish();
  if (tries == kReapTries)
    process_->kill(SIGKILL); // the leash ends what the process started
  timer_.expires_after(kReapInterval);
  timer_.async_wait([weak = weak_from_this(), tries](boost::system::error_code error) {
    if (const auto self = weak.lock(); !error && self)
      self->reap(tries + 1);
  });
}

void Examiner::finish() {
  process_.reset();
  directory_.reset();
  model::Verdict verdict = answer_ ? std::move(*answer_) : std::move(job_.verdict);
  if (!answer_)
    add_not_run(job_.options, why_.empty() ? "the examination's process ended" : why_, verdict);
  const auto done = std::exchange(job_.done, {});
  if (done)
    done(std::move(verdict));
}

} // namespace warpwright::runner::deep
