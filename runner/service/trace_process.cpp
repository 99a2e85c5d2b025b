#include "runner/service/trace_process.h"
#include "runner/isolation/isolation.h"
#include "runner/isolation/supervised.h"
#include "runner/torch/python_programs.h"
#include "support/log.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <iostream>

namespace warpwright::runner {
namespace {

constexpr std::size_t kMostLastWords = 2000;
/// Wait for remaining text on stderr after the process closed its output.
constexpr std::chrono::milliseconds kLastWordsLimit{200};

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  const auto at = text.rfind('\n');
  return at == std::string::npos ? text : text.substr(at + 1);
}

} // namespace

void TraceProcess::prepare() {
  if (!spawn())
    return stop(); // start() tries again and reports the error
  end_when_idle();
}

void TraceProcess::end_when_idle() {
  timer_.expires_after(settings_.idle);
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    if (const auto self = weak.lock(); !error && self)
      self->stop();
  });
}

void TraceProcess::start(const rpc::Json &modules, std::function<void(rpc::Outcome)> done,
                         bool stays) {
  if (ended_)
    stop();
  done_ = std::move(done);
  stays_ = stays;
  if (!connection_)
    if (auto spawned = spawn(); !spawned)
      return fail_with(describe(spawned.error()));
  timer_.expires_after(settings_.limit);
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    if (const auto self = weak.lock(); !error && self)
      self->fail_with("it took longer than " + std::to_string(self->settings_.limit.count()) +
                      " ms");
  });
  connection_->request(
      "trace", {{"modules", modules}}, [weak = weak_from_this()](const rpc::Outcome &outcome) {
        const auto self = weak.lock();
        if (!self || (!outcome && outcome.error().message.starts_with("the connection closed")))
          return; // on_closed reports the failure
        self->finish(outcome);
      });
}

Result<void> TraceProcess::spawn() {
  std::vector<std::string> environment = settings_.environment;
  directory_ = PrivateDirectory::make();
  if (directory_)
    environment.push_back(std::string(kPrivateDirectoryVariable) + "=" +
                          directory_->path().string());
  process_ = TRY(Process::spawn(
      settings_.command,
      {.environment = environment, .inherited = inherited_variables(), .pipe_stderr = true}));
  rpc::Connection::Handlers handlers;
  handlers.on_closed = [weak = weak_from_this()](const std::string &) {
    if (const auto self = weak.lock())
      self->on_closed();
  };
  const int out = process_->release_stdout(), in = process_->release_stdin();
  connection_ =
      rpc::Connection::make(rpc::make_descriptor_stream(executor_, out, in), std::move(handlers));
  connection_->start();
  errors_ = std::make_unique<boost::asio::posix::stream_descriptor>(executor_,
                                                                    process_->release_stderr());
  read_errors();
  return {};
}

void TraceProcess::on_closed() {
  if (!done_) { // a prepared process: start() makes another
    ended_ = true;
    return boost::asio::post(executor_, [self = shared_from_this()] {
      if (self->ended_)
        self->stop();
    });
  }
  timer_.expires_after(kLastWordsLimit);
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    if (const auto self = weak.lock(); !error && self)
      self->fail_with(self->last_words_.empty() ? "it ended without an answer"
                                                : last_line(self->last_words_));
  });
}

void TraceProcess::stop() {
  done_ = nullptr;
  ended_ = false;
  timer_.cancel();
  if (const auto connection = std::exchange(connection_, nullptr))
    connection->close();
  errors_.reset();
  end_supervised(process_);
  directory_.reset();
}

void TraceProcess::fail_with(const std::string &why) {
  finish(std::unexpected(
      rpc::RpcError{rpc::kInternalError,
                    "tracing with " + python_interpreter() + " failed: " + why +
                        ". A Python that has torch is named by --python or WARPWRIGHT_PYTHON",
                    {}}));
}

void TraceProcess::finish(rpc::Outcome outcome) {
  const auto done = std::exchange(done_, nullptr);
  if (!done)
    return;
  // Posted, because stop() must not run in a handler of the connection that it closes.
  boost::asio::post(executor_, [self = shared_from_this(), done, outcome = std::move(outcome)] {
    if (self->stays_ && outcome && self->connection_)
      self->end_when_idle();
    else
      self->stop();
    done(outcome);
  });
}

void TraceProcess::read_errors() {
  errors_->async_read_some(
      boost::asio::buffer(block_),
      [weak = weak_from_this()](boost::system::error_code error, std::size_t size) {
        const auto self = weak.lock();
        if (error || !self || !self->errors_)
          return;
        const std::string text(self->block_.data(), size);
        std::cerr << text;
        self->last_words_ += text;
        if (self->last_words_.size() > kMostLastWords)
          self->last_words_.erase(0, self->last_words_.size() - kMostLastWords);
        self->read_errors();
      });
}

} // namespace warpwright::runner
