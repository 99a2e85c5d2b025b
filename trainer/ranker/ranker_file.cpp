#include "trainer/ranker/ranker_file.h"

#include "support/files.h"
#include "support/hash.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;
static_assert(std::endian::native == std::endian::little && sizeof(TreeNode) == 8);

constexpr std::string_view kFormat = "warpwright-ranker ";
const std::string kFirstLine = std::string(kFormat) + std::to_string(kRankerVersion) + " ";
constexpr std::size_t kHashDigits = 64, kMostFeatures = 4096, kMostForests = 64;
constexpr const char *kRemedy =
    "Train it again: warpwright-train ranker, or install the program again";

template <class T>
void append(std::string &bytes, const std::vector<T> &values) {
  bytes.append(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}

/// Takes `count` values off the front of `bytes`. Errors: there are fewer.
template <class T>
Result<std::vector<T>> taken(std::string_view &bytes, std::size_t count) {
  if (count > bytes.size() / sizeof(T))
    return fail("the file ends too early", kRemedy);
  std::vector<T> values(count);
  std::memcpy(values.data(), bytes.data(), count * sizeof(T));
  bytes.remove_prefix(count * sizeof(T));
  return values;
}

std::vector<std::pair<std::string, const Forest *>> forests_of(const RankerWeights &weights) {
  std::vector<std::pair<std::string, const Forest *>> forests{{"order", &weights.order},
                                                              {"failure", &weights.failure}};
  for (const Forest &forest : weights.speedup)
    forests.emplace_back("speedup", &forest);
  return forests;
}

Result<void> take_forests(RankerWeights &weights, const Json &list, std::string_view bytes) {
  if (list.size() > kMostForests)
    return fail("the file has too many forests", kRemedy);
  for (const Json &entry : list) {
    const std::string name = entry.at(0);
    auto roots = TRY(taken<std::uint32_t>(bytes, entry.at(1).get<std::size_t>()));
    auto nodes = TRY(taken<TreeNode>(bytes, entry.at(2).get<std::size_t>()));
    auto forest = Forest::checked(std::move(nodes), std::move(roots), weights.features.size());
    if (!forest)
      return fail("forest \"" + name + "\": " + forest.error().message, kRemedy);
    if (name == "order")
      weights.order = std::move(*forest);
    else if (name == "failure")
      weights.failure = std::move(*forest);
    else if (name == "speedup")
      weights.speedup.push_back(std::move(*forest));
    else
      return fail("the file has a forest \"" + name + "\" that this program does not know",
                  kRemedy);
  }
  if (!bytes.empty())
    return fail("the file has " + std::to_string(bytes.size()) + " bytes too many", kRemedy);
  return {};
}

Result<RankerWeights> from_header(const Json &header, std::string_view arrays) {
  RankerWeights weights;
  header.at("features").get_to(weights.features);
  if (weights.features.empty() || weights.features.size() > kMostFeatures)
    return fail("the file has " + std::to_string(weights.features.size()) + " features", kRemedy);
  for (const Json &pair : header.at("pairs"))
    weights.pairs.emplace(pair.at(0), pair.at(1));
  weights.order_slope = header.at("order_slope");
  weights.mean_slope = header.at("mean_slope");
  weights.spread_scale = header.at("spread_scale");
  weights.spread_offset = header.at("spread_offset");
  weights.unsupported_width = header.at("unsupported_width");
  header.at("devices").get_to(weights.devices);
  weights.trained_on = header.at("trained_on");
  for (const double number : {weights.order_slope, weights.mean_slope, weights.spread_scale,
                              weights.spread_offset, weights.unsupported_width})
    if (!std::isfinite(number) || number < 0)
      return fail("a number of the file is not a finite number of at least 0", kRemedy);
  TRY(take_forests(weights, header.at("forests"), arrays));
  if (weights.order.trees() == 0 || weights.speedup.empty())
    return fail("the file lacks a forest", kRemedy);
  return weights;
}

} // namespace

std::string to_file(const RankerWeights &weights) {
  std::string arrays;
  Json list = Json::array();
  for (const auto &[name, forest] : forests_of(weights)) {
    list.push_back({name, forest->roots().size(), forest->nodes().size()});
    append(arrays, forest->roots());
    append(arrays, forest->nodes());
  }
  Json pairs = Json::array();
  for (const auto &[first, second] : weights.pairs)
    pairs.push_back({first, second});
  const Json header{{"features", weights.features},
                    {"pairs", std::move(pairs)},
                    {"forests", std::move(list)},
                    {"order_slope", weights.order_slope},
                    {"mean_slope", weights.mean_slope},
                    {"spread_scale", weights.spread_scale},
                    {"spread_offset", weights.spread_offset},
                    {"unsupported_width", weights.unsupported_width},
                    {"devices", weights.devices},
                    {"trained_on", weights.trained_on}};
  const std::string rest = header.dump() + "\n" + arrays;
  return kFirstLine + sha256_hex(rest) + "\n" + rest;
}

Result<RankerWeights> ranker_from_file(const std::string &bytes) {
  if (!bytes.starts_with(kFirstLine))
    return fail(bytes.starts_with(kFormat)
                    ? "the file has another version of the format than this program"
                    : "the file holds no ranker",
                kRemedy);
  const std::size_t begin = kFirstLine.size() + kHashDigits + 1;
  const std::size_t end = bytes.size() < begin ? std::string::npos : bytes.find('\n', begin);
  if (end == std::string::npos)
    return fail("the file ends too early", kRemedy);
  const std::string_view rest = std::string_view(bytes).substr(begin);
  if (sha256_hex(rest) != bytes.substr(kFirstLine.size(), kHashDigits))
    return fail("the file is damaged: its hash is another one", kRemedy);
  try {
    const std::string_view line = rest.substr(0, end - begin);
    const Json header = Json::parse(line.begin(), line.end());
    const std::string_view arrays = rest.substr(line.size() + 1);
    return from_header(header, arrays);
  } catch (const Json::exception &error) {
    return fail(std::string("the file's second line cannot be read: ") + error.what(), kRemedy);
  }
}

Result<Ranker> load_ranker(const std::string &path) {
  std::ifstream input(path, std::ios::binary);
  if (!input)
    return fail("cannot read the ranker " + path, kRemedy);
  auto weights = ranker_from_file(std::string(std::istreambuf_iterator<char>(input), {}));
  if (!weights)
    return fail("cannot use the ranker " + path + ": " + weights.error().message,
                weights.error().remedy);
  return Ranker(std::move(*weights));
}

Result<void> save_ranker(const RankerWeights &weights, const std::string &path) {
  return write_atomically(path, to_file(weights));
}

} // namespace warpwright::trainer
