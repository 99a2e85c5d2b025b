// The checker as kernels of the runner's own, through the same Device interface that runs the
// candidates.
#include "runner/verify/checker.h"

#include <algorithm>

namespace warpwright::runner {
namespace {

constexpr std::uint32_t kThreads = 256, kMaxBlocks = 2048;
constexpr std::size_t kMailboxBytes = 1024; ///< one parameter struct, then one result struct
constexpr std::size_t kResultOffset = 512;

enum Kernel { Generate, CountChanged, SurveyKernel, CompareKernel };

class DeviceChecker final : public Checker {
public:
  DeviceChecker(Device &device, std::unique_ptr<Program> program, Address mailbox)
      : device_(device), program_(std::move(program)), mailbox_(mailbox) {}
  ~DeviceChecker() override { device_.free(mailbox_); }

  DeviceResult<void> generate(const element::Draw &draw, Address out,
                              std::uint64_t count) override {
    if (auto sent = device_.upload(mailbox_, &draw, sizeof draw); !sent)
      return sent;
    return launch(Generate, count,
                  {ArgumentValue::of(mailbox_), ArgumentValue::of(out), ArgumentValue::of(count)});
  }

  DeviceResult<ChangedElements> find_changed(const element::Draw &draw, Address buffer,
                                             std::uint64_t count) override {
    struct {
      std::uint64_t count = 0, first = element::kNone;
    } result;
    auto ran = ask(draw, result, [&] {
      return launch(CountChanged, count,
                    {ArgumentValue::of(mailbox_), ArgumentValue::of(buffer),
                     ArgumentValue::of(count), ArgumentValue::of(mailbox_ + kResultOffset)});
    });
    if (!ran)
      return std::unexpected(ran.error());
    return ChangedElements{result.count, result.first};
  }

  DeviceResult<element::Survey> survey(model::Dtype dtype, Address reference,
                                       std::uint64_t count) override {
    element::Survey result{};
    const int type = static_cast<int>(dtype);
    auto ran = ask(type, result, [&] {
      return launch(SurveyKernel, count,
                    {ArgumentValue::of(type), ArgumentValue::of(reference),
                     ArgumentValue::of(count), ArgumentValue::of(mailbox_ + kResultOffset)});
    });
    if (!ran)
      return std::unexpected(ran.error());
    return result;
  }

  DeviceResult<element::Findings> compare(const element::Comparison &comparison,
                                          std::uint64_t count) override {
    element::Findings result = element::no_findings();
    auto ran = ask(comparison, result, [&] {
      return launch(CompareKernel, count,
                    {ArgumentValue::of(mailbox_), ArgumentValue::of(count),
                     ArgumentValue::of(mailbox_ + kResultOffset)});
    });
    if (!ran)
      return std::unexpected(ran.error());
    return result;
  }

private:
  /// Parameters up, `run`, result down.
  template <class Parameters, class Answer, class Run>
  DeviceResult<void> ask(const Parameters &parameters, Answer &answer, const Run &run) {
    static_assert(sizeof(Parameters) <= kResultOffset &&
                  sizeof(Answer) <= kMailboxBytes - kResultOffset);
    if (auto sent = device_.upload(mailbox_, &parameters, sizeof parameters); !sent)
      return sent;
    if (auto sent = device_.upload(mailbox_ + kResultOffset, &answer, sizeof answer); !sent)
      return sent;
    if (auto ran = run(); !ran)
      return ran;
    return device_.download(&answer, mailbox_ + kResultOffset, sizeof answer);
  }

  DeviceResult<void> launch(Kernel kernel, std::uint64_t count,
                            std::vector<ArgumentValue> arguments) {
    if (count == 0)
      return {};
    LaunchOperation operation;
    operation.program = program_.get();
    operation.kernel = kernel;
    operation.kernel_name = "the runner's own kernel";
    operation.block[0] = kThreads;
    operation.grid[0] = static_cast<std::uint32_t>(
        std::min<std::uint64_t>((count + kThreads - 1) / kThreads, kMaxBlocks));
    operation.arguments = std::move(arguments);
    return device_.launch(operation);
  }

  Device &device_;
  std::unique_ptr<Program> program_;
  Address mailbox_;
};

} // namespace

DeviceResult<std::unique_ptr<Checker>> make_device_checker(Device &device) {
  auto program = device.compile({kDeviceKernels,
                                 {"-std=c++17", "--fmad=false"},
                                 {"ww_generate", "ww_count_changed", "ww_survey", "ww_compare"}});
  if (!program)
    return std::unexpected(
        Fault{Fault::Kind::Internal,
              "the runner's own kernels do not compile: " + program.error().message,
              program.error().log, false});
  auto mailbox = device.allocate(kMailboxBytes);
  if (!mailbox)
    return std::unexpected(mailbox.error());
  return std::make_unique<DeviceChecker>(device, std::move(*program), *mailbox);
}

} // namespace warpwright::runner
