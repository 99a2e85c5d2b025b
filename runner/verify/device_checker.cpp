// Checker in the runner's own kernels, run through the same Device interface as the candidates.
#include "runner/verify/checker.h"
#include "runner/verify/guarded_buffer.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace warpwright::runner {
namespace {

constexpr std::uint32_t kThreads = 256, kMaxBlocks = 2048;
/// Blocks for each item of a joint launch; larger items are launched alone.
constexpr std::uint32_t kBlocksAnItem = 64, kMaxItems = 4096;
constexpr std::uint64_t kLargeItem = 1 << 20;
constexpr std::size_t kMailboxBytes = 1024; ///< one parameter struct, then one result struct
constexpr std::size_t kResultOffset = 512;

enum Kernel {
  Generate,
  CountChanged,
  SurveyKernel,
  CompareKernel,
  CheckGuards,
  CheckCopies,
  ChangeKernel
};

CompileRequest own_kernels() {
  return {kDeviceKernels,
          {"-std=c++17", "--fmad=false"},
          {"ww_generate", "ww_count_changed", "ww_survey", "ww_compare", "ww_check_guards",
           "ww_check_copies", "ww_change"}};
}

class DeviceChecker final : public Checker {
public:
  DeviceChecker(Device &device, std::unique_ptr<Program> program, Address mailbox)
      : device_(device), program_(std::move(program)), mailbox_(mailbox) {}
  ~DeviceChecker() override { device_.free(mailbox_); }

  DeviceResult<void> generate(const element::Draw &draw, Address out,
                              std::uint64_t count) override {
    TRY(device_.upload(mailbox_, &draw, sizeof draw));
    return launch(Generate, count,
                  {ArgumentValue::of(mailbox_), ArgumentValue::of(out), ArgumentValue::of(count)});
  }

  DeviceResult<void> change(const element::Change &change, Address buffer,
                            std::uint64_t count) override {
    TRY(device_.upload(mailbox_, &change, sizeof change));
    return launch(
        ChangeKernel, count,
        {ArgumentValue::of(mailbox_), ArgumentValue::of(buffer), ArgumentValue::of(count)});
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

  DeviceResult<std::vector<element::Marks>> check_guards(std::span<const element::Guard> guards,
                                                         unsigned char byte) override {
    return check_all(CheckGuards, guards, {ArgumentValue::of(static_cast<std::uint32_t>(byte))},
                     [](const element::Guard &guard) { return guard.bytes; });
  }

  DeviceResult<std::vector<element::Marks>>
  check_copies(std::span<const element::RotatedCopy> copies) override {
    return check_all(CheckCopies, copies, {},
                     [](const element::RotatedCopy &copy) { return copy.elements; });
  }

  DeviceResult<element::Survey> survey(element::u64 type, Address reference,
                                       std::uint64_t count) override {
    element::Survey result{};
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
  /// Uploads parameters, calls `run` and downloads the result.
  template <class Parameters, class Answer, class Run>
  DeviceResult<void> ask(const Parameters &parameters, Answer &answer, const Run &run) {
    static_assert(sizeof(Parameters) <= kResultOffset &&
                  sizeof(Answer) <= kMailboxBytes - kResultOffset);
    TRY(device_.upload(mailbox_, &parameters, sizeof parameters));
    TRY(device_.upload(mailbox_ + kResultOffset, &answer, sizeof answer));
    TRY(run());
    return device_.download(&answer, mailbox_ + kResultOffset, sizeof answer);
  }

  DeviceResult<void> launch(Kernel kernel, std::uint64_t count,
                            std::vector<ArgumentValue> arguments) {
    if (count == 0)
      return {};
    return launch_grid(kernel,
                       {std::min<std::uint64_t>((count + kThreads - 1) / kThreads, kMaxBlocks), 1},
                       std::move(arguments));
  }

  DeviceResult<void> launch_grid(Kernel kernel, std::array<std::uint64_t, 2> grid,
                                 std::vector<ArgumentValue> arguments) {
    LaunchOperation operation;
    operation.program = program_.get();
    operation.kernel = kernel;
    operation.kernel_name = "the runner's own kernel";
    operation.block[0] = kThreads;
    for (std::size_t axis = 0; axis < grid.size(); ++axis)
      operation.grid[axis] = static_cast<std::uint32_t>(grid[axis]);
    operation.arguments = std::move(arguments);
    return device_.launch(operation);
  }

  /// Uploads the items, checks them in few launches and downloads their marks. @param size_of elements of an item
  template <class Item, class SizeOf>
  DeviceResult<std::vector<element::Marks>> check_all(Kernel kernel, std::span<const Item> items,
                                                      const std::vector<ArgumentValue> &more,
                                                      const SizeOf &size_of) {
    std::vector<element::Marks> marks(items.size(), element::no_marks());
    if (items.empty())
      return marks;
    // Large items come first, each launched alone; the others follow together.
    std::vector<std::size_t> order(items.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto small = std::ranges::stable_partition(
        order, [&](std::size_t index) { return size_of(items[index]) > kLargeItem; });
    const std::size_t large = order.size() - small.size();
    std::vector<Item> sorted;
    for (const std::size_t index : order)
      sorted.push_back(items[index]);
    const std::size_t item_bytes = sorted.size() * sizeof(Item),
                      mark_bytes = marks.size() * sizeof(element::Marks);
    auto memory = TRY(GuardedBuffer::make(device_, item_bytes + mark_bytes, 0));
    const Address items_at = memory.address(), marks_at = items_at + item_bytes;
    TRY(device_.upload(items_at, sorted.data(), item_bytes));
    TRY(device_.upload(marks_at, marks.data(), mark_bytes));
    const auto check = [&](std::size_t first, std::uint64_t count, std::uint64_t blocks) {
      std::vector<ArgumentValue> arguments{ArgumentValue::of(items_at + first * sizeof(Item)),
                                           ArgumentValue::of(count)};
      arguments.insert(arguments.end(), more.begin(), more.end());
      arguments.push_back(ArgumentValue::of(marks_at + first * sizeof(element::Marks)));
      return launch_grid(kernel, {blocks, std::min<std::uint64_t>(count, kMaxItems)},
                         std::move(arguments));
    };
    for (std::size_t i = 0; i < large; ++i)
      TRY(check(i, 1, kMaxBlocks));
    if (large < sorted.size())
      TRY(check(large, sorted.size() - large, kBlocksAnItem));
    std::vector<element::Marks> found(marks.size());
    TRY(device_.download(found.data(), marks_at, mark_bytes));
    for (std::size_t i = 0; i < order.size(); ++i)
      marks[order[i]] = found[i];
    return marks;
  }

  Device &device_;
  std::unique_ptr<Program> program_;
  Address mailbox_;
};

} // namespace

void compile_checker_ahead(Device &device) {
  if (device.capabilities().device_checks)
    device.compile_ahead(own_kernels());
}

DeviceResult<std::unique_ptr<Checker>> make_device_checker(Device &device) {
  auto program = device.compile(own_kernels());
  if (!program)
    return std::unexpected(
        Fault{Fault::Kind::Internal,
              "the runner's own kernels do not compile: " + program.error().message,
              program.error().log, false});
  auto mailbox = TRY(device.allocate(kMailboxBytes));
  return std::make_unique<DeviceChecker>(device, std::move(*program), mailbox);
}

} // namespace warpwright::runner
