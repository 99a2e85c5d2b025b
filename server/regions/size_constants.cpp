#include "server/regions/size_constants.h"

#include "support/text.h"

#include <algorithm>
#include <limits>

namespace warpwright::server {
namespace {

using regions::SizeConstant;

constexpr const char *kPrefix = "warpwright_size_";
/// Stands for value i in a text: a character that device code does not have, the index, the character again.
constexpr char kMark = '\x01';

std::string marked(std::size_t index) { return kMark + std::to_string(index) + kMark; }

const char *cuda_name(model::Dtype dtype) { return dtype == model::Dtype::Int64 ? "long long" : "int"; }

/// Replaces the marks of a text by variables, one for each different value.
class Mover {
public:
  Mover(const symbolic::FittedText &source, const symbolic::Sizes &sizes) : source_(source), sizes_(sizes) {
    text_ = source.with(marked);
  }

  Result<SizedSource> run() {
    for (std::size_t at = text_.find(kMark); at != std::string::npos; at = text_.find(kMark)) {
      if (auto moved = move(at); !moved)
        return std::unexpected(moved.error());
    }
    SizedSource result;
    result.constants = constants_;
    result.text.parts = {""};
    for (const SizeConstant &one : constants_) {
      result.text.parts.back() += std::string("extern \"C\" { __constant__ ") + cuda_name(one.dtype) + " " + one.name + " = ";
      result.text.values.push_back(one.value);
      result.text.parts.push_back("; }\n");
    }
    for (const SizeConstant &one : constants_)
      result.text.parts.back() += "struct of_" + one.name + " {\n  __device__ __forceinline__ operator " + cuda_name(one.dtype) +
                                  "() const { return " + one.name + "; }\n};\n";
    result.text.parts.back() += text_;
    return result;
  }

private:
  Result<void> move(std::size_t at) {
    const std::size_t end = text_.find(kMark, at + 1) + 1;
    const symbolic::Expression &value = source_.values[std::stoul(text_.substr(at + 1, end - at - 2))];
    std::size_t suffix = end;
    while (suffix < text_.size() && std::string_view("uUlL").contains(text_[suffix]))
      ++suffix;
    const std::string letters = text_.substr(end, suffix - end);
    if (letters.find_first_of("uU") != std::string::npos)
      return fail("an unsigned number depends on the sizes");
    const auto number = value.evaluate(sizes_);
    if (!number)
      return std::unexpected(number.error());
    const bool is_wide = !letters.empty() || *number > std::numeric_limits<std::int32_t>::max();
    const SizeConstant &constant = constant_of(value, is_wide ? model::Dtype::Int64 : model::Dtype::Int32);
    const std::size_t line = text_.rfind('\n', at) + 1;
    if (text_.substr(line, at - line).find("//") != std::string::npos) { // a comment
      text_.replace(at, suffix - at, value.text());
      return {};
    }
    const std::size_t statement = text_.find_last_of(";{}", at) + 1;
    const std::size_t keyword = text_.find("constexpr ", statement);
    const bool is_constant = keyword < at;
    if (is_constant && text_.substr(statement, keyword - statement).find("static") != std::string::npos)
      return move_member(statement, keyword, at, suffix, constant);
    if (depth_at(at) == 0)
      return fail("a number outside of functions depends on the sizes");
    text_.replace(at, suffix - at, constant.name);
    if (is_constant)
      text_.replace(keyword, std::string_view("constexpr").size(), "const");
    return {};
  }

  /// `static constexpr int kA = 1, kRows = 707;` becomes `static constexpr int kA = 1;` and a member kRows that reads
  /// the variable.
  Result<void> move_member(std::size_t statement, std::size_t keyword, std::size_t at, std::size_t suffix, const SizeConstant &constant) {
    const std::size_t end = text_.find(';', suffix), type = text_.find_first_not_of(' ', keyword + std::string_view("constexpr").size());
    const std::size_t names = text_.find(' ', type) + 1; // the type is one word
    std::size_t begin = text_.rfind(", ", at);
    begin = begin == std::string::npos || begin < names ? names : begin + 2;
    const std::string name = text_.substr(begin, text_.find(' ', begin) - begin);
    if (end == std::string::npos || begin + name.size() + 3 != at || text_.substr(begin + name.size(), 3) != " = ")
      return fail("a member's value is computed from a number that depends on the sizes: " + text_.substr(statement, end - statement));
    const bool is_last = suffix == end, is_first = begin == names;
    const std::string before = text_.substr(statement, keyword - statement);
    const std::string member = before + "constexpr of_" + constant.name + " " + name + "{};";
    if (is_first && is_last)
      text_.replace(statement, end + 1 - statement, member);
    else if (is_last)
      text_.replace(begin - 2, end + 1 - (begin - 2), ";" + member);
    else {
      text_.insert(end + 1, member);
      text_.erase(begin, suffix + 2 - begin);
    }
    return {};
  }

  const SizeConstant &constant_of(const symbolic::Expression &value, model::Dtype dtype) {
    const auto found = std::ranges::find_if(constants_, [&](const SizeConstant &one) { return one.value == value && one.dtype == dtype; });
    if (found != constants_.end())
      return *found;
    constants_.push_back({kPrefix + std::to_string(constants_.size()), dtype, value});
    return constants_.back();
  }

  long depth_at(std::size_t at) const {
    const std::string_view before(text_.data(), at);
    return std::ranges::count(before, '{') - std::ranges::count(before, '}');
  }

  const symbolic::FittedText &source_;
  const symbolic::Sizes &sizes_;
  std::string text_;
  std::vector<SizeConstant> constants_;
};

} // namespace

Result<SizedSource> with_size_constants(const symbolic::FittedText &source, const symbolic::Sizes &sizes) {
  return Mover(source, sizes).run();
}

} // namespace warpwright::server
