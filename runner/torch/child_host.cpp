// Implementation of ChildHost: start of the child process, and requests to it, one at a time.
#include "runner/torch/child_host.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace warpwright::runner {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

/// Address space of the shared memory: half the machine's memory. GuardedMemory hands out at most a
/// quarter; the rest allows for fragmentation.
std::size_t arena_bytes() {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) / 2 * page;
}

} // namespace

Result<std::unique_ptr<ChildHost>> ChildHost::make(const std::filesystem::path &folder) {
  std::error_code missing;
  if (!std::filesystem::exists(folder / "child_host.py", missing))
    return fail("there is no " + (folder / "child_host.py").string(),
                "Install the runner with its torch folder");
  std::unique_ptr<ChildHost> host(new ChildHost);
  const std::size_t size = arena_bytes();
  host->files_ = {folder, folder / "libwarpwright-worker.so", {}};
  host->memory_ = {::memfd_create("warpwright-tensors", MFD_CLOEXEC), size};
  if (host->memory_.descriptor < 0 ||
      ::ftruncate(host->memory_.descriptor, static_cast<off_t>(size)) != 0)
    return fail(std::string("cannot make shared memory: ") + std::strerror(errno));
  int in[2] = {-1, -1}, out[2] = {-1, -1};
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
    return fail(std::string("cannot make pipes: ") + std::strerror(errno));
  host->to_child_ = in[1];
  host->from_child_ = out[0];
  host->childs_ = {in[0], out[1], ::fcntl(host->memory_.descriptor, F_DUPFD_CLOEXEC, 3)};
  ::fcntl(host->to_child_, F_SETFL, O_NONBLOCK);
  return host;
}

std::map<std::string, EnclosedProgram> ChildHost::programs() {
  return {{kTorchProgram, torch_program(files_, std::exchange(childs_, {}), memory_.size_bytes)},
          {kCandidateProgram, candidate_program(files_)}};
}

ChildHost::~ChildHost() {
  for (const int descriptor : {to_child_, from_child_, memory_.descriptor})
    if (descriptor >= 0)
      ::close(descriptor);
  for (const int descriptor : childs_)
    ::close(descriptor);
}

DeviceResult<void> ChildHost::ask_for_child() {
  const char *given = std::getenv(kStarterVariable);
  const int asker = given ? std::atoi(given) : -1;
  const std::string request = json{{"start", kTorchProgram}}.dump();
  char text[4096];
  if (asker < 0 ||
      ::write(asker, request.data(), request.size()) != static_cast<ssize_t>(request.size()))
    return fault(Fault::Kind::Unsupported, "this process has no supervisor that starts torch");
  TRY(await(asker, POLLIN));
  const ssize_t size = ::read(asker, text, sizeof text);
  const json answer = json::parse(text, text + std::max<ssize_t>(size, 0), nullptr, false);
  if (!answer.is_object() || !answer.contains("pid"))
    return fault(Fault::Kind::Unsupported,
                 "torch's process was not started: " +
                     (answer.is_object() ? answer.value("error", "") : "the supervisor has ended"));
  is_started_ = true;
  return {};
}

DeviceResult<void> ChildHost::make_ready() {
  if (!version_.empty())
    return {};
  if (!is_started_)
    TRY(ask_for_child());
  auto facts = request("start", json::object());
  const std::string remedy =
      ": pip install torch for it, or name an interpreter that has it in WARPWRIGHT_PYTHON";
  if (!facts && facts.error().kind == Fault::Kind::Crash)
    return lost(Fault::Kind::Unsupported,
                "the Python interpreter ended before torch was there" + remedy);
  if (!facts)
    return std::unexpected(facts.error());
  if (facts->contains("missing"))
    return fault(Fault::Kind::Unsupported, facts->at("missing").get<std::string>() + remedy);
  version_ = facts->at("version");
  return {};
}

std::unexpected<Fault> ChildHost::lost(Fault::Kind kind, const std::string &message) {
  return fault(kind, message, true);
}

DeviceResult<void> ChildHost::await(int descriptor, short events) {
  for (;;) {
    int wait_ms = -1;
    if (deadline_) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(*deadline_ - Clock::now()).count();
      if (left <= 0)
        return lost(Fault::Kind::Timeout, "torch did not answer before the job's deadline");
      wait_ms = static_cast<int>(std::min<long long>(left, 60'000));
    }
    pollfd wanted{descriptor, events, 0};
    const int ready = ::poll(&wanted, 1, wait_ms);
    if (ready > 0)
      return {};
    if (ready < 0 && errno != EINTR)
      return lost(Fault::Kind::Internal,
                  std::string("cannot wait for torch: ") + std::strerror(errno));
  }
}

DeviceResult<void> ChildHost::send(const std::string &message) {
  for (std::size_t sent = 0; sent < message.size();) {
    const ssize_t count = ::write(to_child_, message.data() + sent, message.size() - sent);
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
      continue;
    }
    if (count < 0 && errno != EAGAIN && errno != EINTR)
      return lost(Fault::Kind::Crash, "the process that holds torch has ended");
    TRY(await(to_child_, POLLOUT));
  }
  return {};
}

DeviceResult<json> ChildHost::receive() {
  for (;;) {
    auto body = reader_.next();
    if (!body)
      return lost(Fault::Kind::Internal, "torch's answer: " + describe(body.error()));
    if (*body) {
      json document = json::parse(**body, nullptr, false);
      if (!document.is_object())
        return lost(Fault::Kind::Internal, "the answer of torch is not JSON");
      return document;
    }
    TRY(await(from_child_, POLLIN));
    char bytes[65536];
    const ssize_t count = ::read(from_child_, bytes, sizeof bytes);
    if (count > 0)
      reader_.append({bytes, static_cast<std::size_t>(count)});
    else if (count == 0 || errno != EINTR)
      return lost(Fault::Kind::Crash, "the process that holds torch has ended");
  }
}

DeviceResult<json> ChildHost::request(const std::string &method, const json &parameters) {
  const json message = {
      {"jsonrpc", "2.0"}, {"id", next_id_++}, {"method", method}, {"params", parameters}};
  const std::string body = message.dump(-1, ' ', false, json::error_handler_t::replace);
  TRY(send(rpc::framed(body, rpc::Framing::ContentLength)));
  auto answer = TRY(receive());
  if (!answer.contains("error"))
    return answer.value("result", json());
  const json &error = answer["error"];
  return fault(fault_kind(error.value("data", json::object()).value("kind", "")),
               error.value("message", "torch gave no reason"));
}

DeviceResult<std::vector<Address>> ChildHost::results(CallHandle) {
  return fault(Fault::Kind::Unsupported,
               "results of this torch lie in another process until they are published");
}

} // namespace warpwright::runner
