// Lane-by-lane evaluation; see warp.h.
//
// Costs follow the CUDA C++ Programming Guide. Global memory is moved in sectors of 32 bytes.
// Shared memory has 32 banks of 4 bytes; a warp access of 8 or 16 bytes per lane is served in
// halves or quarters. Thread: any.
#include "analysis/facts/warp.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

namespace warpwright::analysis {
namespace {

constexpr int kLanes = 32;
constexpr int kBanks = 32;
constexpr int kBankBytes = 4;
constexpr int kSectorBytes = 32;

using Addresses = std::array<std::int64_t, kLanes>;

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); }

class LaneEvaluator {
public:
  LaneEvaluator(const SymbolTable &symbols, const KernelShape &shape, int assignment)
      : symbols_(symbols), shape_(shape), assignment_(assignment) {}

  std::optional<Addresses> addresses(const symbolic::Polynomial &bytes, bool uses_y) {
    block_ = {shape_.block[0].value_or(uses_y ? kLanes : kAssumedBlock),
              shape_.block[1].value_or(uses_y ? 8 : 1), shape_.block[2].value_or(1)};
    if (block_[0] <= 0 || block_[1] <= 0)
      return std::nullopt;
    Addresses result{};
    for (int lane = 0; lane < kLanes; ++lane) {
      lane_ = lane;
      const auto address = evaluate(bytes, 0);
      if (!address)
        return std::nullopt;
      result[static_cast<std::size_t>(lane)] = *address;
    }
    return result;
  }

  std::int64_t row_length() const { return std::min<std::int64_t>(block_[0], kLanes); }

private:
  using Wide = std::optional<std::int64_t>;

  Wide evaluate(const symbolic::Polynomial &value, int depth) {
    __int128 sum = 0;
    for (const auto &[monomial, coefficient] : value.terms()) {
      __int128 product = coefficient;
      for (const std::string &name : monomial) {
        const Wide factor = symbol(name, depth);
        if (!factor)
          return std::nullopt;
        product *= *factor;
        if (product > kLimit || product < -kLimit)
          return std::nullopt;
      }
      sum += product;
    }
    if (sum > kLimit || sum < -kLimit)
      return std::nullopt;
    return static_cast<std::int64_t>(sum);
  }

  Wide symbol(const std::string &name, int depth) {
    if (name == "threadIdx.x")
      return lane_ % block_[0];
    if (name == "threadIdx.y")
      return (lane_ / block_[0]) % block_[1];
    if (name == "threadIdx.z")
      return lane_ / block_[0] / block_[1];
    if (name.starts_with("blockDim.") && name.size() == 10)
      return block_[static_cast<std::size_t>(name[9] - 'x')];
    if (const auto known = shape_.template_values.find(name); known != shape_.template_values.end())
      return known->second;
    const auto found = symbols_.find(name);
    if (found == symbols_.end() || found->second.kind == SymbolKind::Varying || depth > 32)
      return std::nullopt;
    if (found->second.operation != Operation::None)
      return derived(found->second, depth);
    const auto hash = std::hash<std::string>{}(name + (assignment_ == 0 ? "" : "'"));
    return static_cast<std::int64_t>(128 * (2 * (hash % 97) + 3));
  }

  Wide derived(const Symbol &symbol, int depth) {
    const Wide a = evaluate(symbol.left, depth + 1), b = evaluate(symbol.right, depth + 1);
    if (!a || !b)
      return std::nullopt;
    switch (symbol.operation) {
    case Operation::Divide:
      return *b == 0 ? std::nullopt : Wide(*a / *b);
    case Operation::Remainder:
      return *b == 0 ? std::nullopt : Wide(*a % *b);
    case Operation::And:
      return *a & *b;
    case Operation::Or:
      return *a | *b;
    case Operation::Xor:
      return *a ^ *b;
    case Operation::ShiftRight:
      return *b < 0 || *b > 62 ? std::nullopt : Wide(*a >> *b);
    case Operation::Minimum:
      return std::min(*a, *b);
    case Operation::Maximum:
      return std::max(*a, *b);
    case Operation::None:
      return std::nullopt;
    }
    return std::nullopt;
  }

  static constexpr __int128 kLimit = __int128{1} << 60;
  const SymbolTable &symbols_;
  const KernelShape &shape_;
  int assignment_;
  std::array<std::int64_t, 3> block_{};
  std::int64_t lane_ = 0;
};

bool wastes_sectors(const Addresses &addresses, int element_bytes) {
  std::set<std::int64_t> sectors, elements;
  for (const std::int64_t address : addresses) {
    elements.insert(address);
    for (std::int64_t byte = address; byte < address + element_bytes; byte += kBankBytes)
      sectors.insert(floor_divide(byte, kSectorBytes));
  }
  return static_cast<std::int64_t>(sectors.size()) * kSectorBytes >
         2 * std::max<std::int64_t>(static_cast<std::int64_t>(elements.size()) * element_bytes,
                                    kSectorBytes);
}

int conflict_ways(const Addresses &addresses, int element_bytes) {
  const int words = std::max(1, element_bytes / kBankBytes);
  const int group = words >= 4 ? kLanes / 4 : kLanes / words;
  int ways = 1;
  for (int first = 0; first + group <= kLanes; first += group) {
    std::array<std::set<std::int64_t>, kBanks> banks;
    for (int lane = first; lane < first + group; ++lane)
      for (int word = 0; word < std::min(words, 4); ++word) {
        const std::int64_t index =
            floor_divide(addresses[static_cast<std::size_t>(lane)], kBankBytes) + word;
        banks[static_cast<std::size_t>(((index % kBanks) + kBanks) % kBanks)].insert(index);
      }
    for (const auto &bank : banks)
      ways = std::max(ways, static_cast<int>(bank.size()));
  }
  return ways;
}

} // namespace

WarpAccess simulate_warp(const symbolic::Polynomial &bytes, int element_bytes,
                         const SymbolTable &symbols, const KernelShape &shape) {
  const bool uses_y =
      std::ranges::any_of(symbols, [](const auto &entry) { return entry.first == "threadIdx.y"; });
  LaneEvaluator first(symbols, shape, 0), second(symbols, shape, 1);
  const auto a = first.addresses(bytes, uses_y), b = second.addresses(bytes, uses_y);
  WarpAccess result;
  if (!a || !b || element_bytes <= 0)
    return result;
  // A row consists of the lanes that differ only in threadIdx.x; with blockDim.x == 1 it is the
  // whole warp.
  const std::size_t row =
      first.row_length() > 1 ? static_cast<std::size_t>(first.row_length()) : kLanes;
  bool is_symbolic = false, is_regular = true;
  const std::int64_t step = (*a)[1] - (*a)[0];
  for (std::size_t lane = 1; lane < row; ++lane) {
    is_symbolic |= (*a)[lane] - (*a)[0] != (*b)[lane] - (*b)[0];
    is_regular &= (*a)[lane] - (*a)[lane - 1] == step;
  }
  bool is_known = !is_symbolic;
  for (std::size_t lane = row; lane < kLanes; ++lane)
    is_known &= (*a)[lane] - (*a)[0] == (*b)[lane] - (*b)[0];
  if (is_known)
    result.bank_conflict_ways = conflict_ways(*a, element_bytes);
  if (is_symbolic) {
    result.pattern = AccessPattern::Strided;
    return result;
  }
  if (is_regular && step % element_bytes == 0)
    result.stride = step / element_bytes;
  if (is_regular && step == 0)
    result.pattern = AccessPattern::Broadcast;
  else
    result.pattern =
        wastes_sectors(*a, element_bytes) ? AccessPattern::Strided : AccessPattern::Coalesced;
  // A stride of two elements already halves the bandwidth, although wastes_sectors() does not
  // report it.
  if (is_regular && result.stride && std::abs(*result.stride) > 1)
    result.pattern = AccessPattern::Strided;
  return result;
}

} // namespace warpwright::analysis
