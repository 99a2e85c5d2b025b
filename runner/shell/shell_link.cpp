// Conversation with the shell line. States: Greeting -> (Copying ->) Starting -> Up, or Over.
#include "runner/shell/shell_link.h"
#include "runner/shell/runner_files.h"
#include "runner/shell/shell_failure.h"
#include "runner/shell/shell_script.h"
#include "support/hash.h"
#include "support/process.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <iostream>
#include <random>
#include <thread>

namespace warpwright::runner {
namespace {

constexpr std::size_t kBlockBytes = 64 * 1024, kMostGreetingBytes = 1 << 20, kTailBytes = 8 * 1024;
/// For the first line of a target that starts at once and may not ask the user.
constexpr std::chrono::seconds kGreetingLimit{60};
constexpr std::chrono::seconds kFarewellLimit{2};
constexpr std::chrono::milliseconds kExitPoll{20};

std::string random_nonce() {
  std::random_device random;
  std::string nonce = "warpwright";
  for (int i = 0; i < 16; ++i)
    nonce += "0123456789abcdef"[random() % 16];
  return nonce;
}

/// Reads a stream to its end and calls `done` with all of it.
void read_to_end(std::shared_ptr<rpc::Stream> stream, std::shared_ptr<std::string> text,
                 std::function<void()> done) {
  const auto block = std::make_shared<std::string>(kBlockBytes, '\0');
  stream->async_read(block->data(), block->size(),
                     [=](boost::system::error_code error, std::size_t size) {
                       text->append(block->data(), size);
                       if (error || size == 0)
                         return done();
                       read_to_end(stream, text, done);
                     });
}

class ShellSession : public std::enable_shared_from_this<ShellSession> {
public:
  ShellSession(boost::asio::any_io_executor executor, const ShellTarget &target, ShellOpened opened)
      : executor_(executor), timer_(executor), target_(target), opened_(std::move(opened)),
        nonce_(random_nonce()) {}
  ~ShellSession();

  void start();

  // The side of the opened link.
  void read(char *data, std::size_t size,
            std::function<void(boost::system::error_code, std::size_t)> done);
  void write(const std::string &data, std::function<void(boost::system::error_code)> done) {
    stream_->async_write(data, std::move(done));
  }
  void end();

private:
  enum class State { Greeting, Copying, Starting, Up, Over };

  void limit_greeting();
  void read_lines();
  void take_line(const std::string &line);
  void take_hello(const std::string &words);
  void pack();
  void send(std::shared_ptr<std::string> archive);
  void read_errors();
  void come_up();
  void on_output_end();
  void await_exit(int polls_left);
  void fail_with(net::LinkFailure failure);

  boost::asio::any_io_executor executor_;
  boost::asio::steady_timer timer_;
  ShellTarget target_;
  ShellOpened opened_;
  std::string nonce_;
  RunnerFiles files_;
  State state_ = State::Greeting;
  std::optional<Process> process_, packer_;
  std::shared_ptr<rpc::Stream> stream_, errors_stream_;
  std::string block_ = std::string(kBlockBytes, '\0'), errors_block_ = std::string(kBlockBytes, '\0');
  std::string lines_; ///< bytes that are not handled yet
  ShellEnd end_;
  std::string message_; ///< archive with its header, while it is sent
  bool errors_ended_ = false;
};

/// The opened link as a stream. It owns the session.
class ShellStream final : public rpc::Stream {
public:
  explicit ShellStream(std::shared_ptr<ShellSession> session) : session_(std::move(session)) {}
  ~ShellStream() override { session_->end(); }
  void async_read(char *data, std::size_t size,
                  std::function<void(boost::system::error_code, std::size_t)> done) override {
    session_->read(data, size, std::move(done));
  }
  void async_write(const std::string &data,
                   std::function<void(boost::system::error_code)> done) override {
    session_->write(data, std::move(done));
  }
  void close() override { session_->end(); }

private:
  std::shared_ptr<ShellSession> session_;
};

/// Leaves a program of a queue the time to take back its request.
ShellSession::~ShellSession() {
  if (!process_ || !target_.may_queue || process_->poll())
    return;
  process_->kill(SIGTERM);
  for (auto waited = std::chrono::milliseconds(0); waited < kFarewellLimit && !process_->poll(); waited += kExitPoll)
    std::this_thread::sleep_for(kExitPoll);
}

void ShellSession::start() {
  if (target_.runner.empty()) {
    auto files = find_runner_files(target_.copies_cpu_worker);
    if (!files)
      return fail_with({files.error(), true});
    files_ = std::move(*files);
  }
  const auto command = target_.command(shell_script(target_, nonce_, files_.key));
  // Ctrl-C goes to all programs of a terminal, and ssh is needed to cancel the job there.
  // A queue's program takes back its request at SIGTERM. Killed at once, srun leaves its job behind.
  auto process = Process::spawn(command, {.pipe_stderr = true,
                                          .ignores_interrupt = !target_.may_queue,
                                          .signal_at_our_end = target_.may_queue ? SIGTERM : SIGKILL});
  if (!process)
    return fail_with({{process.error().message, "Install " + target_.program() + ", or put it on the PATH"}, true});
  process_ = std::move(*process);
  const int out = process_->release_stdout(), in = process_->release_stdin(),
            err = process_->release_stderr();
  stream_ = rpc::make_descriptor_stream(executor_, out, in);
  errors_stream_ = rpc::make_descriptor_stream(executor_, err, err);
  limit_greeting();
  read_errors();
  read_lines();
}

/// A target that may ask the user or wait in a queue has no limit.
void ShellSession::limit_greeting() {
  if (target_.may_queue || std::ranges::find(target_.outer, "BatchMode=yes") == target_.outer.end())
    return;
  timer_.expires_after(kGreetingLimit);
  timer_.async_wait([self = shared_from_this()](boost::system::error_code error) {
    if (error || self->state_ != State::Greeting)
      return;
    self->fail_with({{self->target_.label + " sent nothing within " +
                          std::to_string(kGreetingLimit.count()) + " s of the login",
                      "Try it in a terminal: " + self->target_.attempt},
                     false});
  });
}

void ShellSession::read_lines() {
  stream_->async_read(block_.data(), block_.size(),
                      [self = shared_from_this()](boost::system::error_code error, std::size_t size) {
                        if (self->state_ == State::Over)
                          return;
                        if (error || size == 0)
                          return self->on_output_end();
                        self->lines_.append(self->block_, 0, size);
                        for (auto end = self->lines_.find('\n'); end != std::string::npos && self->opened_;
                             end = self->lines_.find('\n')) {
                          const std::string line = self->lines_.substr(0, end);
                          self->lines_.erase(0, end + 1);
                          self->take_line(line);
                        }
                        if (!self->opened_)
                          return;
                        if (self->lines_.size() > kMostGreetingBytes)
                          return self->fail_with({{self->target_.label + " sends an endless line instead of starting a shell", ""}, true});
                        self->read_lines();
                      });
}

void ShellSession::take_line(const std::string &line) {
  if (!line.starts_with(nonce_ + " "))
    return; // a greeting
  std::string words = line.substr(nonce_.size() + 1);
  if (words.ends_with('\r'))
    words.pop_back();
  if (words == "up")
    return come_up();
  if (words == "start")
    state_ = State::Starting;
  else if (words.starts_with("failed "))
    end_.failed_folder = words.substr(7);
  else
    take_hello(words);
}

void ShellSession::take_hello(const std::string &words) {
  end_.hello = parse_hello(words);
  if (!end_.hello)
    return;
  timer_.cancel();
  state_ = State::Copying;
  if (const std::string why = why_unfit(target_, *end_.hello); !why.empty())
    return fail_with({{why, "Install warpwright there, and name its runner with ?runner=PATH"}, true});
  if (end_.hello->state == "need")
    pack();
}

void ShellSession::pack() {
  auto packer = Process::spawn(archive_command(files_));
  if (!packer)
    return fail_with({packer.error(), true});
  packer_ = std::move(*packer);
  const int out = packer_->release_stdout();
  const auto archive = std::make_shared<std::string>();
  read_to_end(rpc::make_descriptor_stream(executor_, out, out), archive,
              [self = shared_from_this(), archive] { self->send(archive); });
}

void ShellSession::send(std::shared_ptr<std::string> archive) {
  if (state_ != State::Copying)
    return;
  if (const ExitStatus status = packer_->wait(); status.code != 0 || status.signal != 0)
    return fail_with({{"the runner's files in " + files_.folder.string() + " cannot be packed",
                       "tar and gzip are needed here"}, true});
  packer_.reset();
  std::cerr << "warpwright: copying the runner to " << target_.label << " ("
            << archive->size() / 1'000'000 << " MB)" << std::endl;
  message_ = std::to_string(archive->size()) + " " + sha256_hex(*archive) + "\n" + *archive;
  // A shell that ends meanwhile says why on its other streams.
  stream_->async_write(message_, [self = shared_from_this()](boost::system::error_code) { self->message_.clear(); });
}

/// Keeps the end of stderr for the explanation. What a queue reports, and what comes once the runner
/// is up, is passed on.
void ShellSession::read_errors() {
  errors_stream_->async_read(
      errors_block_.data(), errors_block_.size(),
      [self = shared_from_this()](boost::system::error_code error, std::size_t size) {
        if (error || size == 0) {
          self->errors_ended_ = true;
          if (self->state_ == State::Over)
            self->timer_.cancel();
          return;
        }
        const std::string_view text(self->errors_block_.data(), size);
        if (self->state_ == State::Up || (self->target_.may_queue && self->opened_))
          std::cerr << text << std::flush;
        self->end_.errors.append(text);
        if (self->end_.errors.size() > kTailBytes)
          self->end_.errors.erase(0, self->end_.errors.size() - kTailBytes);
        self->read_errors();
      });
}

void ShellSession::come_up() {
  state_ = State::Up;
  std::exchange(opened_, {})(std::make_unique<ShellStream>(shared_from_this()));
}

void ShellSession::on_output_end() {
  await_exit(static_cast<int>(kFarewellLimit / kExitPoll));
}

/// Waits for the exit code and the rest of stderr, which say why the output ended.
void ShellSession::await_exit(int polls_left) {
  if ((process_->poll() && errors_ended_) || polls_left == 0) {
    if (!process_->poll())
      process_->kill(SIGKILL);
    end_.status = process_->wait();
    return fail_with(explain(target_, end_));
  }
  timer_.expires_after(kExitPoll);
  timer_.async_wait([self = shared_from_this(), polls_left](boost::system::error_code error) {
    if (!error && self->opened_)
      self->await_exit(polls_left - 1);
  });
}

void ShellSession::fail_with(net::LinkFailure failure) {
  const auto opened = std::exchange(opened_, {});
  if (process_)
    end();
  state_ = State::Over;
  if (opened)
    opened(std::unexpected(std::move(failure)));
}

void ShellSession::read(char *data, std::size_t size,
                        std::function<void(boost::system::error_code, std::size_t)> done) {
  if (lines_.empty())
    return stream_->async_read(data, size, std::move(done));
  const std::size_t count = std::min(size, lines_.size());
  lines_.copy(data, count);
  lines_.erase(0, count);
  boost::asio::post(executor_, [done = std::move(done), count] { done({}, count); });
}

/// Closes the streams, which ends ssh and the program behind it. The end of stderr shows that it
/// has ended; the timer, or this object's end, kills it otherwise.
void ShellSession::end() {
  const State state = std::exchange(state_, State::Over);
  if (state == State::Over)
    return;
  stream_->close();
  if (state == State::Greeting && target_.may_queue)
    process_->kill(SIGTERM); // it waits, and does not notice that its input ended
  if (errors_ended_)
    return;
  timer_.expires_after(kFarewellLimit);
  timer_.async_wait([self = shared_from_this()](boost::system::error_code error) {
    if (!error)
      self->process_->kill(SIGKILL);
    self->errors_stream_->close();
  });
}

} // namespace

void open_shell_link(boost::asio::any_io_executor executor, const ShellTarget &target,
                     ShellOpened opened) {
  std::make_shared<ShellSession>(executor, target, std::move(opened))->start();
}

} // namespace warpwright::runner
