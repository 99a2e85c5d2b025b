// Parser of specs: recursive descent with offsets into the given text.
#include "analysis/task/spec.h"

#include "analysis/spec_diagnostics.h"

#include <algorithm>
#include <charconv>

namespace warpwright::analysis {
namespace {

struct SpecError {
  std::size_t offset = 0;
  std::string message;
};

class Reader {
public:
  Reader(std::string_view text, Spec &spec) : text_(text), spec_(spec) {}

  std::optional<SpecError> read() {
    while (!error_) {
      skip(" \t\r\n,");
      if (position_ >= text_.size())
        break;
      item();
      skip(" \t\r");
      if (!error_ && position_ < text_.size() &&
          !std::string_view(",\n").contains(text_[position_]))
        expect("',' or the end of the line");
    }
    return error_;
  }

private:
  void skip(std::string_view set) {
    while (position_ < text_.size() && set.contains(text_[position_]))
      ++position_;
  }
  void spaces() { skip(" \t\r"); }
  bool accept(std::string_view token) {
    spaces();
    if (!text_.substr(position_).starts_with(token))
      return false;
    position_ += token.size();
    return true;
  }
  void expect(const std::string &what) {
    if (error_)
      return;
    spaces();
    const std::size_t end = text_.find_first_of("\n", position_);
    const std::string found(text_.substr(position_, std::min<std::size_t>(end - position_, 20)));
    error_ =
        SpecError{position_, "expected " + what +
                                 (found.empty() ? ", found the end" : ", found '" + found + "'")};
  }
  std::string word() {
    spaces();
    const std::size_t begin = position_;
    while (position_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[position_])) || text_[position_] == '_'))
      ++position_;
    return std::string(text_.substr(begin, position_ - begin));
  }
  /// Text up to one of `stops` outside of parentheses.
  std::string until(std::string_view stops) {
    spaces();
    const std::size_t begin = position_;
    for (int depth = 0; position_ < text_.size(); ++position_) {
      const char c = text_[position_];
      if (depth == 0 && (stops.contains(c) || c == '\n'))
        break;
      depth += (c == '(') - (c == ')');
    }
    std::size_t end = position_;
    while (end > begin && std::isspace(static_cast<unsigned char>(text_[end - 1])))
      --end;
    return std::string(text_.substr(begin, end - begin));
  }
  symbolic::Expression expression(std::string_view stops) {
    const std::size_t begin = position_;
    const std::string text = until(stops);
    if (const auto parsed = symbolic::Expression::parse(text))
      return *parsed;
    position_ = begin;
    expect("an integer expression over the sizes");
    return {};
  }
  std::optional<double> number(const std::string &text) {
    double value = 0;
    const std::string_view digits =
        text.ends_with('f') ? std::string_view(text).substr(0, text.size() - 1) : text;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return code == std::errc() && end == digits.data() + digits.size() ? std::optional(value)
                                                                       : std::nullopt;
  }

  void item() {
    const std::size_t begin = position_;
    const std::string name = word();
    if (name.empty())
      return expect("a name, 'check', 'launch', 'fill' or 'tolerance'");
    if (name == "check" && !at("=:"))
      return check();
    if (name == "launch" && !at("=:"))
      return launch();
    if (name == "fill" && !at("=:"))
      return fill();
    if (name == "tolerance" && !at("=:"))
      return tolerance();
    if (accept("="))
      return size(name);
    if (accept(":"))
      return buffer(name);
    position_ = begin + name.size();
    expect("'=' or ':' after " + name);
  }
  bool at(std::string_view set) {
    spaces();
    return position_ < text_.size() && set.contains(text_[position_]);
  }

  void size(const std::string &name) {
    spaces();
    const std::size_t begin = position_;
    const std::string text = until(",");
    if (const auto parsed = symbolic::Expression::parse(text)) {
      if (const auto value = parsed->evaluate(spec_.sizes)) {
        spec_.sizes[name] = *value;
        return;
      }
      position_ = begin;
      return expect("sizes that were given before");
    }
    const auto value = number(text);
    if (value) {
      spec_.scalars[name] = *value;
      return;
    }
    position_ = begin;
    expect("a value for " + name);
  }

  void check() {
    std::string last;
    do {
      symbolic::Sizes binding;
      do {
        std::string name = word();
        if (!name.empty() && std::isdigit(static_cast<unsigned char>(name[0]))) {
          position_ -= name.size();
          name = last;
        } else if (!accept("=")) {
          return expect("'=' after a size");
        }
        if (name.empty())
          return expect("NAME = NUMBER");
        const auto value = number(word());
        if (!value || *value < 1)
          return expect("a positive integer for " + name);
        binding[last = name] = static_cast<std::int64_t>(*value);
        spaces();
      } while (
          position_ < text_.size() &&
          (std::isalpha(static_cast<unsigned char>(text_[position_])) || text_[position_] == '_'));
      spec_.check_sizes.push_back(std::move(binding));
    } while (!error_ && accept("|"));
  }

  void buffer(const std::string &name) {
    BufferSpec buffer;
    spaces();
    std::size_t begin = position_;
    std::string token = word();
    if (token == "in" || token == "out" || token == "inout") {
      buffer.direction = token == "in"    ? model::Direction::In
                         : token == "out" ? model::Direction::Out
                                          : model::Direction::InOut;
      spaces();
      begin = position_;
      token = word();
    }
    if (token == "unsigned" || token == "signed") {
      const std::string second = word();
      token += second.empty() ? "" : " " + second;
    }
    if (!token.empty() && !(buffer.distribution = distribution(token))) {
      buffer.dtype = model::dtype_from_c_type(token);
      if (!buffer.dtype)
        buffer.dtype = model::dtype_from_name(token);
      if (!buffer.dtype) {
        position_ = begin;
        return expect("a type like float, half, int or a distribution");
      }
    }
    if (accept("=") && buffer.dtype) {
      const auto value = number(until(","));
      if (!value)
        return expect("a number");
      spec_.scalars[name] = *value;
      return;
    }
    if (accept("[") && !shape(buffer))
      return;
    if (const std::string kind = error_ ? "" : word();
        !kind.empty() && !(buffer.distribution = distribution(kind)))
      return expect("normal, uniform, positive, zeros or integers LOW..HIGH instead of " + kind);
    if (!error_)
      spec_.buffers[name] = std::move(buffer);
  }

  /// Reads a shape after "[": "n]", "batch, 64]", or "]" for a torch tensor without dimensions.
  bool shape(BufferSpec &buffer) {
    buffer.shape.emplace();
    std::string extent = "1";
    if (accept("]")) {
      buffer.extent = symbolic::Expression(1);
      return true;
    }
    do {
      buffer.shape->push_back(expression(",]"));
      const std::string text = "(" + buffer.shape->back().text() + ")";
      extent = buffer.shape->size() == 1 ? buffer.shape->back().text() : extent + " * " + text;
      if (buffer.shape->size() == 1 && at(","))
        extent = text;
    } while (!error_ && accept(","));
    if (!error_ && !accept("]"))
      expect("']'");
    if (const auto parsed = symbolic::Expression::parse(extent); parsed && !error_)
      buffer.extent = *parsed;
    return !error_;
  }

  std::optional<model::Distribution> distribution(const std::string &kind) {
    using Kind = model::Distribution::Kind;
    static const std::map<std::string, Kind> kKinds{{"normal", Kind::Normal},
                                                    {"uniform", Kind::Uniform},
                                                    {"positive", Kind::Positive},
                                                    {"zeros", Kind::Zeros},
                                                    {"integers", Kind::Integers}};
    const auto found = kKinds.find(kind);
    if (found == kKinds.end())
      return std::nullopt;
    model::Distribution result;
    result.kind = found->second;
    if (result.kind == Kind::Integers) {
      result.lower = expression(".");
      if (!error_ && !accept(".."))
        expect("'..' between the lowest value and the one above the highest");
      if (!error_)
        result.upper = expression(",");
    }
    return result;
  }

  void launch() {
    LaunchSpec launch;
    spaces();
    if (!text_.substr(position_).starts_with("grid(") &&
        !text_.substr(position_).starts_with("block(")) {
      const std::size_t end =
          std::min(text_.find(" grid", position_), text_.find(" block", position_));
      if (end == std::string_view::npos)
        return expect("grid(...) and block(...)");
      launch.kernel = text_.substr(position_, end - position_);
      position_ = end;
    }
    bool has_grid = false;
    while (!error_) {
      if (accept("grid(")) {
        launch_shape(launch.grid);
        has_grid = true;
      } else if (accept("block(")) {
        launch_shape(launch.block);
      } else if (accept("shared(")) {
        launch.shared_bytes = expression(")");
        if (!accept(")"))
          expect("')'");
      } else {
        break;
      }
    }
    if (!has_grid)
      expect("grid(...)");
    spec_.launch = std::move(launch);
  }
  void launch_shape(std::array<symbolic::Expression, 3> &shape) {
    std::size_t i = 0;
    do
      shape[std::min<std::size_t>(i, 2)] = expression(",)");
    while (++i < 3 && !error_ && accept(","));
    if (!error_ && !accept(")"))
      expect("')'");
  }

  void fill() {
    const std::string name = word();
    if (name.empty() || !accept("="))
      return expect("NAME = BYTE");
    const auto value = number(word());
    if (!value || *value < 0 || *value > 255)
      return expect("a byte, 0 to 255");
    spec_.fills[name] = static_cast<int>(*value);
  }

  void tolerance() {
    const auto token = [&] {
      spaces();
      const std::size_t begin = position_;
      while (position_ < text_.size() && !std::string_view(" \t\r\n,").contains(text_[position_]))
        ++position_;
      return std::string(text_.substr(begin, position_ - begin));
    };
    const std::size_t begin = position_;
    const auto absolute = number(token());
    if (!absolute || *absolute < 0) {
      position_ = begin;
      return expect("a number like 1e-4");
    }
    model::Tolerance tolerance;
    tolerance.absolute = tolerance.relative = *absolute;
    if (const std::string second = token(); !second.empty())
      tolerance.relative = number(second).value_or(*absolute);
    spec_.tolerance = tolerance;
  }

  std::string_view text_;
  Spec &spec_;
  std::size_t position_ = 0;
  std::optional<SpecError> error_;
};

constexpr std::string_view kMarker = "warpwright:";

/// The text with everything except the comment's items replaced by spaces, so that offsets stay
/// those of the file.
std::string masked(std::string_view text, std::size_t end) {
  std::string result(text.substr(0, end));
  bool goes_on = false, is_spec = false;
  std::vector<std::pair<std::size_t, std::size_t>> lines;
  for (std::size_t at = 0; at < end;) {
    const std::size_t stop = std::min(result.find('\n', at), end);
    lines.emplace_back(at, stop);
    at = stop + 1;
  }
  std::size_t first = lines.size();
  while (first > 0) {
    const std::string_view line = std::string_view(result).substr(
        lines[first - 1].first, lines[first - 1].second - lines[first - 1].first);
    const std::size_t start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos ? first != lines.size()
                                        : !line.substr(start).starts_with("//"))
      break;
    --first;
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto [begin, stop] = lines[i];
    const std::string_view line = text.substr(begin, stop - begin);
    const std::size_t slashes = line.find("//");
    const std::size_t marker = line.find(kMarker);
    is_spec = i >= first && slashes != std::string_view::npos &&
              (marker != std::string_view::npos || goes_on);
    const std::size_t content = marker != std::string_view::npos    ? marker + kMarker.size()
                                : slashes == std::string_view::npos ? 0
                                                                    : slashes + 2;
    std::fill(result.begin() + static_cast<std::ptrdiff_t>(begin),
              result.begin() + static_cast<std::ptrdiff_t>(is_spec ? begin + content : stop), ' ');
    const std::size_t last = line.find_last_not_of(" \t\r");
    goes_on = is_spec && last != std::string_view::npos && line[last] == ',';
  }
  return result;
}

} // namespace

Result<Spec> parse_spec(const std::string &text) {
  std::string plain = text;
  bool is_comment = false;
  for (char &c : plain) {
    is_comment = c != '\n' && (is_comment || c == '#');
    if (is_comment)
      c = ' ';
  }
  Spec spec;
  const auto error = Reader(plain, spec).read();
  if (!error)
    return spec;
  const LineIndex lines(text);
  return fail("line " + std::to_string(lines.line_of(error->offset) + 1) + ", column " +
                  std::to_string(lines.column_of(error->offset) + 1) + ": " + error->message,
              "See the syntax of task specs in the documentation");
}

CommentSpec spec_above(const ParsedUnit &unit, const clang::NamedDecl &kernel) {
  CommentSpec result;
  const clang::SourceManager &sources = unit.sources();
  const auto *function = llvm::dyn_cast<clang::FunctionDecl>(&kernel);
  const clang::FunctionTemplateDecl *templated =
      function ? function->getDescribedFunctionTemplate() : nullptr;
  clang::SourceLocation begin =
      sources.getExpansionLoc(templated ? templated->getBeginLoc() : kernel.getBeginLoc());
  if (!unit.is_in_file(begin))
    return result;
  const std::size_t line_start =
      LineIndex(unit.text())
          .line_start(LineIndex(unit.text()).line_of(sources.getFileOffset(begin)));
  const auto error = Reader(masked(unit.text(), line_start), result.spec).read();
  if (!error)
    return result;
  const LineIndex lines(unit.text());
  Diagnostic diagnostic;
  diagnostic.rule = "task-spec";
  diagnostic.severity = Severity::Error;
  diagnostic.line = lines.line_of(error->offset) + 1;
  diagnostic.column = lines.column_of(error->offset) + 1;
  diagnostic.range = {error->offset, std::min(error->offset + 1, unit.text().size())};
  diagnostic.message = "cannot read the warpwright comment above " + kernel.getNameAsString() +
                       ": line " + std::to_string(diagnostic.line) + ", column " +
                       std::to_string(diagnostic.column) + ": " + error->message;
  result.error = std::move(diagnostic);
  return result;
}

std::string type_name(model::Dtype dtype) {
  switch (dtype) {
  case model::Dtype::Float32:
    return "float";
  case model::Dtype::Float64:
    return "double";
  case model::Dtype::Float16:
    return "half";
  case model::Dtype::Int32:
    return "int";
  default:
    return std::string(model::name(dtype));
  }
}

void merge(Spec &spec, const Spec &later) {
  for (const auto &[name, value] : later.sizes)
    spec.sizes[name] = value;
  if (!later.check_sizes.empty())
    spec.check_sizes = later.check_sizes;
  for (const auto &[name, value] : later.scalars)
    spec.scalars[name] = value;
  for (const auto &[name, byte] : later.fills)
    spec.fills[name] = byte;
  for (const auto &[name, buffer] : later.buffers) {
    BufferSpec &target = spec.buffers[name];
    if (buffer.direction)
      target.direction = buffer.direction;
    if (buffer.dtype)
      target.dtype = buffer.dtype;
    if (buffer.extent) {
      target.extent = buffer.extent;
      target.shape = buffer.shape;
    }
    if (buffer.distribution)
      target.distribution = buffer.distribution;
  }
  if (later.launch)
    spec.launch = later.launch;
  if (later.tolerance)
    spec.tolerance = later.tolerance;
  if (later.captured)
    spec.captured = later.captured;
}

std::vector<Diagnostic> spec_diagnostics(const ParsedUnit &unit) {
  std::vector<Diagnostic> found;
  for (const clang::FunctionDecl *kernel : unit.kernels())
    if (CommentSpec above = spec_above(unit, *kernel); above.error)
      found.push_back(std::move(*above.error));
  return found;
}

} // namespace warpwright::analysis
