// The checker by the runner's own kernels, run on the CPU backend next to the one on the host: machines without a GPU then judge the text that
// GPUs run, but for what only a GPU can do wrong.
#include "runner/verify/checker.h"
#include "runner/verify/guarded_buffer.h"
#include "tests/runner/cpu_fixture.h"

using namespace warpwright::runner;
using namespace warpwright::runner::cpu_test;
using element::Guard;
using element::Marks;
using element::RotatedCopy;

namespace {

bool same(const std::vector<Marks> &one, const std::vector<Marks> &other) {
  return std::ranges::equal(one, other, [](const Marks &a, const Marks &b) {
    return a.count == b.count && a.first == b.first && a.last == b.last;
  });
}

} // namespace

TEST_CASE("guards that were written are found, by kernels as by the host") {
  Bench bench;
  Device &device = bench.device();
  auto kernels = make_device_checker(device);
  REQUIRE_MESSAGE(kernels.has_value(), (kernels ? "" : kernels.error().message));
  const auto host = make_host_checker(device);
  std::vector<std::uint8_t> bytes(3000, 0x7B);
  bytes[1999] = bytes[2003] = bytes[10] = 0;
  DeviceArray<std::uint8_t> memory(device, bytes);
  const Address at = memory.address();
  const std::vector<Guard> guards{{at, 10}, {at, 11}, {at + 1000, 1500}, {at + 2004, 900}, {at, 0}};
  const auto found = host->check_guards(guards, 0x7B);
  REQUIRE(found.has_value());
  CHECK((*found)[0].count == 0);
  CHECK((*found)[1].count == 1);
  CHECK((*found)[2].count == 2);
  CHECK((*found)[2].first == 999);
  CHECK((*found)[2].last == 1003);
  CHECK((*found)[3].count == 0);
  const auto by_kernels = (*kernels)->check_guards(guards, 0x7B);
  REQUIRE(by_kernels.has_value());
  CHECK(same(*found, *by_kernels));
  CHECK((*kernels)->check_guards(std::span<const Guard>(), 0)->empty());
}

TEST_CASE("a rotated copy of which an element changed is found, by kernels as by the host") {
  Bench bench;
  Device &device = bench.device();
  auto kernels = make_device_checker(device);
  REQUIRE_MESSAGE(kernels.has_value(), (kernels ? "" : kernels.error().message));
  const auto host = make_host_checker(device);
  constexpr std::uint64_t kCount = 1000, kOffset = 37, kPart = 125, kFirst = 300, kPartOffset = 700;
  std::vector<std::uint16_t> from(kCount), copied(kCount);
  for (std::uint64_t i = 0; i < kCount; ++i)
    from[i] = static_cast<std::uint16_t>(i * 31);
  for (std::uint64_t i = 0; i < kCount; ++i)
    copied[i] = from[(i + (i >= kFirst && i < kFirst + kPart ? kPartOffset : kOffset)) % kCount];
  DeviceArray<std::uint16_t> master(device, from), right(device, copied);
  copied[0] ^= 1;
  copied[kFirst + 1] ^= 0x8000;
  DeviceArray<std::uint16_t> wrong(device, copied);
  const auto copy = [&](Address buffer, std::uint64_t elements = kCount) {
    return RotatedCopy{buffer, master.address(), elements, 2, kOffset, kFirst, kPart, kPartOffset};
  };
  const std::vector<RotatedCopy> copies{copy(right.address()), copy(wrong.address()),
                                        copy(right.address(), 0)};
  const auto found = host->check_copies(copies);
  REQUIRE(found.has_value());
  CHECK((*found)[0].count == 0);
  CHECK((*found)[1].count == 2);
  CHECK((*found)[1].first == 0);
  CHECK((*found)[1].last == kFirst + 1);
  CHECK((*found)[2].count == 0);
  const auto by_kernels = (*kernels)->check_copies(copies);
  REQUIRE(by_kernels.has_value());
  CHECK(same(*found, *by_kernels));
}
