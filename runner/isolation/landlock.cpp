// Landlock by system calls. Constants and structures are from Linux 6.12's linux/landlock.h,
// because Debian 12's header lacks some.
#include "runner/isolation/landlock.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;

constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446; // all architectures
constexpr std::uint32_t kCreateRulesetVersion = 1;
constexpr int kRulePathBeneath = 1;

constexpr std::uint64_t bit(int number) { return std::uint64_t{1} << number; }
constexpr std::uint64_t kExecute = bit(0), kWriteFile = bit(1), kReadFile = bit(2),
                        kReadDirectory = bit(3), kRefer = bit(13), kTruncate = bit(14),
                        kIoctlDevice = bit(15);
constexpr std::uint64_t kRemoveDirectory = bit(4), kRemoveFile = bit(5), kMakeDirectory = bit(7),
                        kMakeFile = bit(8), kMakeSocket = bit(9);
constexpr std::uint64_t kBindTcp = bit(0), kConnectTcp = bit(1);
constexpr std::uint64_t kScopeAbstractSockets = bit(0), kScopeSignals = bit(1);
/// The rights that apply to files and not only to folders.
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDevice;

struct RulesetAttribute {
  std::uint64_t files, network, scoped;
};
struct [[gnu::packed]] PathAttribute {
  std::uint64_t allowed;
  std::int32_t parent;
};

/// Rights known to a version of Landlock (kernel documentation, userspace-api/landlock).
RulesetAttribute handled_by(int version) {
  RulesetAttribute handled{bit(13) - 1, 0, 0};
  if (version >= 2)
    handled.files |= kRefer;
  if (version >= 3)
    handled.files |= kTruncate;
  if (version >= 4)
    handled.network = kBindTcp | kConnectTcp;
  if (version >= 5)
    handled.files |= kIoctlDevice;
  if (version >= 6)
    handled.scoped = kScopeAbstractSockets | kScopeSignals;
  return handled;
}

std::size_t size_for(int version) { return version >= 6 ? 24 : version >= 4 ? 16 : 8; }

class Ruleset {
public:
  explicit Ruleset(int version) : handled_(handled_by(version)) {
    descriptor_ =
        static_cast<int>(syscall(kCreateRuleset, &handled_, size_for(version), std::uint32_t{0}));
  }
  Ruleset(const Ruleset &) = delete;
  ~Ruleset() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
  }
  int get() const { return descriptor_; }

  void allow(const fs::path &path, std::uint64_t rights) {
    const int at = ::open(path.c_str(), O_PATH | O_CLOEXEC);
    if (at < 0)
      return; // a path that does not exist needs no rule
    std::error_code error;
    if (!fs::is_directory(path, error))
      rights &= kOfFiles;
    const PathAttribute attribute{rights & handled_.files, at};
    if (syscall(kAddRule, descriptor_, kRulePathBeneath, &attribute, std::uint32_t{0}) != 0 &&
        problem_.empty())
      problem_ = path.string() + ": " + std::strerror(errno);
    ::close(at);
  }
  const std::string &problem() const { return problem_; }

private:
  RulesetAttribute handled_;
  int descriptor_ = -1;
  std::string problem_;
};

} // namespace

IsolationLayer restrict_files(const FileRules &rules) {
  const long version = syscall(kCreateRuleset, nullptr, std::size_t{0}, kCreateRulesetVersion);
  if (version < 1)
    return {"files", false, std::string("this kernel has no Landlock: ") + std::strerror(errno)};
  Ruleset ruleset(static_cast<int>(version));
  if (ruleset.get() < 0)
    return {"files", false, std::string("Landlock refuses the rules: ") + std::strerror(errno)};
  for (const fs::path &path : rules.readable)
    ruleset.allow(path, kReadFile | kReadDirectory);
  for (const fs::path &path : rules.executable)
    ruleset.allow(path, kReadFile | kReadDirectory | kExecute);
  for (const fs::path &path : rules.writable)
    ruleset.allow(path, kReadFile | kReadDirectory | kWriteFile | kTruncate | kMakeFile |
                            kMakeDirectory | kRemoveFile | kRemoveDirectory | kMakeSocket | kRefer);
  for (const fs::path &path : rules.devices)
    ruleset.allow(path, kReadFile | kWriteFile | kReadDirectory | kIoctlDevice);
  if (!ruleset.problem().empty())
    return {"files", false, "Landlock refuses a rule: " + ruleset.problem()};
  if (syscall(kRestrictSelf, ruleset.get(), std::uint32_t{0}) != 0)
    return {"files", false, std::string("Landlock is not in force: ") + std::strerror(errno)};
  return {"files", true, "Landlock version " + std::to_string(version)};
}

} // namespace warpwright::runner
