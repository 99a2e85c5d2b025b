#include "regions/padding.h"

#include "regions/places.h"

#include <optional>
#include <set>
#include <vector>

namespace warpwright::regions {
namespace {

using nlohmann::json;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

class Unpadding {
public:
  explicit Unpadding(json program)
      : program_(std::move(program)), inputs_(program_.at("inputs").size()) {}

  json run() {
    for (std::size_t k = 0; k < operators().size(); ++k)
      unpad(k);
    if (!is_changed_)
      return std::move(program_);
    drop_unread();
    return std::move(program_);
  }

private:
  struct Pads {
    std::int64_t rows = 0, columns = 0; ///< behind the last ones
    json source;                        ///< what is padded, or the operand itself
  };

  json &operators() { return program_["operators"]; }

  /// Index of the operator that makes a value; kNone: an input, or no value.
  std::size_t maker_of(const json &argument) const {
    if (!argument.is_object() || !argument.contains("v"))
      return kNone;
    const auto k = argument["v"][0].get<std::size_t>();
    return k < inputs_ ? kNone : k - inputs_;
  }

  /// nullopt: the operand is padded otherwise.
  std::optional<Pads> pads_of(const json &argument) {
    const std::size_t maker = maker_of(argument);
    if (maker == kNone || operators()[maker]["op"] != "aten.constant_pad_nd.default")
      return Pads{0, 0, argument};
    const json &args = operators()[maker]["args"];
    Pads pads{0, 0, args[0]};
    if (!args[1].is_array() || args[1].size() > 4 || (args.size() > 2 && args[2] != 0) ||
        !operators()[maker]["kwargs"].empty())
      return std::nullopt;
    for (std::size_t i = 0; i < args[1].size(); ++i) {
      const json &count = args[1][i];
      if (!count.is_number_integer() || count.get<std::int64_t>() < 0 || (i % 2 == 0 && count != 0))
        return std::nullopt;
      (i == 1 ? pads.columns : i == 3 ? pads.rows : count_of_nothing_) = count.get<std::int64_t>();
    }
    return pads;
  }

  /// Operators that read a value, each once; kNone stands for an output of the program.
  std::vector<std::size_t> readers_of(std::size_t k) {
    std::vector<std::size_t> readers;
    for (std::size_t reader = 0; reader < operators().size(); ++reader)
      if (reads(operators()[reader]["args"], k) || reads(operators()[reader]["kwargs"], k))
        readers.push_back(reader);
    for (const json &output : program_["outputs"])
      if (is_value(output["value"], k))
        readers.push_back(kNone);
    return readers;
  }

  bool reads(const json &argument, std::size_t k) const {
    bool found = false;
    for_each_place(argument, [&](const json &place) { found |= is_value(place, k); });
    return found;
  }
  bool is_value(const json &place, std::size_t k) const {
    return place[0].get<std::size_t>() == inputs_ + k;
  }

  /// Calls `visit` for each place that an operator or an output of the program reads.
  template <class Visit>
  void for_each_read(const Visit &visit) {
    for_each_place(operators(), visit);
    for (json &output : program_["outputs"])
      visit(output["value"]);
  }

  void unpad(std::size_t k) {
    const std::string op = operators()[k]["op"].get<std::string>();
    const std::size_t first = op == "aten.addmm.default" ? 1 : 0,
                      rank = op == "aten.bmm.default" ? 3 : 2;
    if (op != "aten.mm.default" && op != "aten.addmm.default" && op != "aten.bmm.default")
      return;
    json &args = operators()[k]["args"];
    const auto a = pads_of(args[first]), b = pads_of(args[first + 1]);
    if (!a || !b || a->columns != b->rows || a->rows + a->columns + b->rows + b->columns == 0)
      return;
    json bias;
    if (first == 1) {
      const auto padded = pads_of(args[0]);
      if (!padded || padded->columns != b->columns ||
          (padded->rows != 0 && padded->rows != a->rows))
        return;
      bias = padded->source;
    }
    const auto cut = cut_behind(k, rank, a->rows, b->columns);
    if (!cut)
      return;
    if (first == 1)
      args[0] = bias;
    args[first] = a->source;
    args[first + 1] = b->source;
    for_each_read([&](json &place) {
      if (is_value(place, *cut))
        place = {inputs_ + k, 0};
    });
    is_changed_ = true;
  }

  /// The last of the slices that cut these rows and columns off the end of a product.
  std::optional<std::size_t> cut_behind(std::size_t product, std::size_t rank, std::int64_t rows,
                                        std::int64_t columns) {
    std::size_t last = product;
    while (rows > 0 || columns > 0) {
      const std::vector<std::size_t> readers = readers_of(last);
      if (readers.size() != 1 || readers[0] == kNone)
        return std::nullopt;
      const json &slice = operators()[readers[0]], &args = slice["args"];
      if (slice["op"] != "aten.slice.Tensor" || args.size() != 4 || args[2] != 0 ||
          !args[3].is_number_integer())
        return std::nullopt;
      const std::int64_t dim =
          args[1].get<std::int64_t>() -
          static_cast<std::int64_t>(args[1].get<std::int64_t>() < 0 ? 0 : rank);
      std::int64_t &left = dim == -1 ? columns : dim == -2 ? rows : count_of_nothing_;
      if (left <= 0 || args[3].get<std::int64_t>() != -left)
        return std::nullopt;
      left = 0;
      last = readers[0];
    }
    return last;
  }

  /// Drops pads and slices that nothing reads, and numbers the values anew.
  void drop_unread() {
    std::set<std::size_t> dropped;
    for (std::size_t k = operators().size(); k-- > 0;) {
      const std::string op = operators()[k]["op"].get<std::string>();
      if (op != "aten.constant_pad_nd.default" && op != "aten.slice.Tensor")
        continue;
      bool is_read = false;
      for (const std::size_t reader : readers_of(k))
        is_read |= !dropped.contains(reader);
      if (!is_read)
        dropped.insert(k);
    }
    json kept = json::array();
    std::vector<std::size_t> number;
    for (std::size_t k = 0; k < operators().size(); ++k) {
      number.push_back(kept.size());
      if (!dropped.contains(k))
        kept.push_back(operators()[k]);
    }
    operators() = std::move(kept);
    for_each_read([&](json &place) {
      if (const auto k = place[0].get<std::size_t>(); k >= inputs_)
        place[0] = inputs_ + number[k - inputs_];
    });
  }

  json program_;
  const std::size_t inputs_;
  bool is_changed_ = false;
  std::int64_t count_of_nothing_ = 0; ///< stands for dimensions that have no padding
};

} // namespace

json without_padding(json program) { return Unpadding(std::move(program)).run(); }

} // namespace warpwright::regions
