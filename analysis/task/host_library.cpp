// Functions of libraries that the imagined run knows: allocation, texts, containers, mathematics and
// getopt(). Thread: the unit's thread.
#include "analysis/task/host_interpreter.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace warpwright::analysis {
namespace {

using Kind = RunValue::Kind;

/// The result of a mathematical function; nullopt: not one that is known.
std::optional<double> mathematics(std::string name, const std::vector<double> &x) {
  name = name.starts_with("__builtin_") ? name.substr(10) : name;
  if (x.size() == 1) {
    static const std::map<std::string, double (*)(double)> kOne{
        {"sqrt", std::sqrt},   {"ceil", std::ceil},   {"floor", std::floor}, {"exp", std::exp},
        {"log", std::log},     {"log2", std::log2},   {"log10", std::log10}, {"fabs", std::fabs},
        {"round", std::round}, {"trunc", std::trunc}, {"cbrt", std::cbrt},   {"sin", std::sin},
        {"cos", std::cos},     {"tan", std::tan},     {"exp2", std::exp2}};
    if (const auto found = kOne.find(name); found != kOne.end())
      return found->second(x[0]);
    if (name.ends_with("f"))
      if (const auto found = kOne.find(name.substr(0, name.size() - 1)); found != kOne.end())
        return static_cast<double>(static_cast<float>(found->second(x[0])));
    if (name == "abs" || name == "labs")
      return std::fabs(x[0]);
  }
  if (x.size() == 2) {
    if (name == "pow" || name == "powf")
      return std::pow(x[0], x[1]);
    if (name == "min" || name == "fmin" || name == "fminf")
      return std::min(x[0], x[1]);
    if (name == "max" || name == "fmax" || name == "fmaxf")
      return std::max(x[0], x[1]);
    if (name == "fmod")
      return std::fmod(x[0], x[1]);
  }
  return std::nullopt;
}

} // namespace

std::optional<RunValue> HostInterpreter::known_function(const clang::CallExpr &call,
                                                        const std::string &name) {
  if (auto result = allocation(call, name))
    return result;
  if (auto result = text_function(call, name))
    return result;
  if (name == "getopt")
    return get_option(call, false);
  if (name == "getopt_long")
    return get_option(call, true);
  if (name == "getenv" && call.getNumArgs() == 1) {
    const std::string variable = text_of(evaluate(call.getArg(0)));
    assume("the environment has no variable " + variable);
    return integer_value(0);
  }
  if (name == "swap" && call.getNumArgs() == 2) {
    const HostPlace left = place(call.getArg(0)), right = place(call.getArg(1));
    const RunValue before = load(left, call.getArg(0)->getType());
    if (before.is(Kind::Record)) {
      memory_.forget(left);
      memory_.forget(right);
    } else {
      memory_.write(left, load(right, call.getArg(1)->getType()));
      memory_.write(right, before);
    }
    return RunValue{};
  }
  if ((name == "move" || name == "forward") && call.getNumArgs() == 1)
    return evaluate(call.getArg(0));
  if ((name == "memset" || name == "fill" || name == "fill_n") && call.getNumArgs() == 3) {
    const RunValue target = evaluate(call.getArg(0)), byte = evaluate(call.getArg(1)),
                   bytes = evaluate(call.getArg(2));
    if (target.is(Kind::Pointer))
      memory_.forget(target.place);
    // A struct of zeros; arrays are not followed.
    if (name == "memset" && target.is(Kind::Pointer) && !target.is_element &&
        byte.is(Kind::Integer) && byte.integer == 0 && target.place.path.empty())
      memory_.write(target.place, record_value(memory_.allocate(true)));
    return target;
  }
  std::vector<double> numbers;
  if (call.getNumArgs() == 0 || call.getNumArgs() > 2)
    return std::nullopt;
  for (const clang::Expr *argument : call.arguments())
    if (!argument->getType()->isArithmeticType())
      return std::nullopt;
  static const std::vector<double> kAny{1, 1};
  if (!mathematics(name, {kAny.begin(), kAny.begin() + call.getNumArgs()}))
    return std::nullopt;
  bool are_integers = true;
  for (const clang::Expr *argument : call.arguments()) {
    RunValue value = evaluate(argument);
    if (value.is(Kind::Record))
      value = load(value.place, argument->getType());
    const auto number = value.number();
    if (!number || (value.is(Kind::Integer) && std::abs(*number) > 9e15))
      return RunValue{};
    are_integers &= value.is(Kind::Integer);
    numbers.push_back(*number);
  }
  const double result = *mathematics(name, numbers);
  if (!std::isfinite(result))
    return RunValue{};
  const bool is_integral = call.getType().getNonReferenceType()->isIntegralOrEnumerationType();
  return are_integers && is_integral
             ? integer_value(static_cast<std::int64_t>(result))
             : converted(floating_value(result), call.getType().getNonReferenceType());
}

std::optional<RunValue> HostInterpreter::allocation(const clang::CallExpr &call,
                                                    const std::string &name) {
  static const std::set<std::string> kByPointer{"cudaMalloc", "cudaMallocManaged", "cudaMallocHost",
                                                "cudaHostAlloc", "cudaMallocAsync"};
  static const std::set<std::string> kReturned{"malloc",  "calloc",     "aligned_alloc",
                                               "realloc", "_mm_malloc", "memalign"};
  const bool by_pointer = kByPointer.contains(name) && call.getNumArgs() >= 2;
  if (!by_pointer && !(kReturned.contains(name) && call.getNumArgs() >= 1))
    return std::nullopt;
  const HostPlace block = memory_.allocate(name == "calloc");
  RunValue bytes =
      evaluate(call.getArg(by_pointer || name == "aligned_alloc" || name == "memalign" ||
                                   name == "calloc" || name == "realloc"
                               ? 1
                               : 0));
  if (name == "calloc")
    bytes = arithmetic(clang::BO_Mul, evaluate(call.getArg(0)), bytes, call.getArg(1)->getType());
  if (bytes.is(Kind::Integer))
    memory_.write(block.part("#bytes"), bytes);
  if (!by_pointer)
    return pointer_value(block, true);
  give(call.getArg(0), pointer_value(block, true));
  return integer_value(0);
}

std::optional<RunValue> HostInterpreter::text_function(const clang::CallExpr &call,
                                                       const std::string &name) {
  static const std::set<std::string> kIntegers{"atoi",   "atol",    "atoll",   "stoi",
                                               "stol",   "stoll",   "stoul",   "stoull",
                                               "strtol", "strtoul", "strtoll", "strtoull"};
  static const std::set<std::string> kFloats{"atof", "stof", "stod", "strtof", "strtod"};
  const auto text = [&](unsigned index) {
    return index < call.getNumArgs() ? evaluate(call.getArg(index)) : RunValue{};
  };
  if (kIntegers.contains(name) || kFloats.contains(name)) {
    const RunValue read = text(0);
    if (!read.is(Kind::Text))
      return RunValue{};
    if (call.getNumArgs() > 1 && !call.getArg(1)->isDefaultArgument())
      if (const RunValue end = evaluate(call.getArg(1)); end.is(Kind::Pointer))
        memory_.forget(end.pointee());
    if (kFloats.contains(name))
      return converted(floating_value(std::strtod(read.text.c_str(), nullptr)), call.getType());
    int base = 10;
    if (call.getNumArgs() > 2)
      if (const RunValue given = evaluate(call.getArg(2)); given.is(Kind::Integer))
        base = given.integer == 0 || (given.integer > 1 && given.integer <= 36)
                   ? static_cast<int>(given.integer)
                   : 10;
    return converted(integer_value(std::strtoll(read.text.c_str(), nullptr, base)), call.getType());
  }
  const bool is_comparison = name == "strcmp" || name == "strncmp" || name == "strcasecmp";
  if (is_comparison || name == "operator==" || name == "operator!=") {
    if (call.getNumArgs() < 2)
      return std::nullopt;
    RunValue left = text(0), right = text(1);
    if (!left.is(Kind::Text) || !right.is(Kind::Text))
      return is_comparison ? std::optional(RunValue{}) : std::nullopt;
    if (name == "strncmp") {
      const RunValue count = text(2);
      if (!count.is(Kind::Integer) || count.integer < 0)
        return RunValue{};
      left.text.resize(
          std::min<std::size_t>(left.text.size(), static_cast<std::size_t>(count.integer)));
      right.text.resize(
          std::min<std::size_t>(right.text.size(), static_cast<std::size_t>(count.integer)));
    }
    if (name == "strcasecmp")
      for (std::string *one : {&left.text, &right.text})
        std::ranges::transform(*one, one->begin(), [](unsigned char c) { return std::tolower(c); });
    if (is_comparison)
      return integer_value(left.text.compare(right.text) < 0   ? -1
                           : left.text.compare(right.text) > 0 ? 1
                                                               : 0);
    return integer_value((left.text == right.text) == (name == "operator=="));
  }
  if (name == "strlen") {
    const RunValue one = text(0);
    return one.is(Kind::Text) ? integer_value(std::ssize(one.text)) : RunValue{};
  }
  if (name == "strdup")
    return text(0);
  if (name == "strchr" || name == "strstr") {
    const RunValue where = text(0), what = text(1);
    if (!where.is(Kind::Text) || !(what.is(Kind::Text) || what.is(Kind::Integer)))
      return RunValue{};
    const std::size_t at = what.is(Kind::Text) ? where.text.find(what.text)
                                               : where.text.find(static_cast<char>(what.integer));
    return at == std::string::npos ? integer_value(0) : text_value(where.text.substr(at));
  }
  if (name == "isdigit") {
    const RunValue one = text(0);
    return one.is(Kind::Integer) ? integer_value(one.integer >= '0' && one.integer <= '9')
                                 : RunValue{};
  }
  return std::nullopt;
}

std::optional<RunValue> HostInterpreter::container(const clang::CallExpr &call,
                                                   const std::string &name,
                                                   const clang::Expr *object) {
  const bool by_pointer = object->getType()->isPointerType();
  const clang::QualType type = by_pointer ? object->getType()->getPointeeType() : object->getType();
  const bool is_operator = llvm::isa<clang::CXXOperatorCallExpr>(call);
  const auto argument = [&](unsigned index) -> const clang::Expr * {
    index += is_operator ? 1 : 0;
    return index < call.getNumArgs() ? call.getArg(index) : nullptr;
  };
  const HostPlace self = by_pointer ? evaluate(object).pointee() : place(object);
  if (is_string(type)) {
    const RunValue text = self.is_known() ? memory_.read(self) : evaluate(object);
    if (name == "c_str" || name == "data" || name == "str")
      return text;
    if (name == "operator=" && argument(0)) {
      memory_.write(self, evaluate(argument(0)));
      return RunValue{};
    }
    if (!text.is(Kind::Text))
      return std::nullopt;
    if (name == "size" || name == "length")
      return integer_value(std::ssize(text.text));
    if (name == "empty")
      return integer_value(text.text.empty());
    if (name == "compare" && call.getNumArgs() == 1) {
      const RunValue other = evaluate(argument(0));
      return other.is(Kind::Text) ? integer_value(text.text.compare(other.text)) : RunValue{};
    }
    return std::nullopt;
  }
  const HostPlace size = self.part("#size");
  if (name == "size")
    return memory_.read(size);
  if (name == "empty") {
    const RunValue count = memory_.read(size);
    return count.is(Kind::Integer) ? integer_value(count.integer == 0) : RunValue{};
  }
  if (name == "data" || name == "begin" || name == "cbegin")
    return pointer_value(self, true);
  if (name == "operator[]" || name == "at" || name == "front" || name == "back") {
    RunValue index = name == "front"  ? integer_value(0)
                     : name == "back" ? arithmetic(clang::BO_Sub, memory_.read(size),
                                                   integer_value(1), call.getType())
                                      : evaluate(argument(0));
    if (name == "back" && index.is(Kind::Integer))
      index = integer_value(memory_.read(size).integer - 1);
    if (index.is(Kind::Integer) && self.is_known())
      return record_value(self.element(index.integer));
    const RunValue count = memory_.read(size);
    memory_.forget(self); // some element may be written
    memory_.write(size, count);
    return RunValue{};
  }
  if (name == "reserve" || name == "shrink_to_fit") {
    if (argument(0))
      evaluate(argument(0));
    return RunValue{};
  }
  if (name == "resize" || name == "assign") {
    const RunValue count = argument(0) && argument(0)->getType()->isIntegralOrEnumerationType()
                               ? evaluate(argument(0))
                               : RunValue{};
    memory_.forget(self);
    memory_.write(size, count);
    return RunValue{};
  }
  if (name == "clear") {
    memory_.forget(self);
    memory_.write(size, integer_value(0));
    return RunValue{};
  }
  if (name == "push_back" || name == "emplace_back" || name == "pop_back") {
    const RunValue count = memory_.read(size);
    if (!count.is(Kind::Integer) || !self.is_known()) {
      memory_.forget(self);
      return RunValue{};
    }
    if (name == "push_back" && argument(0)) {
      const HostPlace last = self.element(count.integer);
      const clang::QualType of = argument(0)->getType().getNonReferenceType();
      initialize(last, of, argument(0));
    } else if (name == "emplace_back") {
      for (unsigned i = 0; argument(i); ++i)
        evaluate(argument(i));
    }
    memory_.write(size, integer_value(count.integer + (name == "pop_back" ? -1 : 1)));
    return RunValue{};
  }
  return std::nullopt;
}

/// getopt() and getopt_long() of the C library, over the arguments of the run. The state is in the
/// program's own `optind` and `optarg`.
RunValue HostInterpreter::get_option(const clang::CallExpr &call, bool is_long) {
  const auto global = [&](const char *name) -> HostPlace {
    auto &declarations = const_cast<clang::ASTContext &>(context());
    for (const clang::NamedDecl *found : declarations.getTranslationUnitDecl()->lookup(
             clang::DeclarationName(&declarations.Idents.get(name))))
      if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(found))
        return place_of(*variable);
    return {};
  };
  const HostPlace index_place = global("optind"), argument_place = global("optarg");
  RunValue list = evaluate(call.getArg(1));
  const RunValue options = evaluate(call.getArg(2));
  if (!index_place.is_known() || !list.is(Kind::Pointer) || !options.is(Kind::Text))
    return {};
  const HostPlace inside = index_place.part("#inside"); // the position in a word such as "-ab"
  RunValue index = memory_.read(index_place);
  if (!index.is(Kind::Integer) || index.integer == 0)
    index = integer_value(1);
  const RunValue word = memory_.read(list.pointee(index.integer));
  const auto end_with = [&](RunValue result, std::int64_t next) {
    memory_.write(index_place, integer_value(next));
    memory_.forget(inside);
    return result;
  };
  if (word.is(Kind::Integer) && word.integer == 0)
    return end_with(integer_value(-1), index.integer);
  if (!word.is(Kind::Text))
    return {};
  if (word.text.size() < 2 || word.text[0] != '-')
    return {}; // words that are no options may be moved: not followed
  const RunValue following = memory_.read(list.pointee(index.integer + 1));
  if (word.text == "--")
    return end_with(integer_value(-1), index.integer + 1);
  if (is_long && word.text.starts_with("--")) {
    const RunValue table = evaluate(call.getArg(3));
    const std::size_t equals = word.text.find('=');
    const std::string wanted =
        word.text.substr(2, equals == std::string::npos ? equals : equals - 2);
    for (std::int64_t i = 0; i < 64; ++i) {
      const HostPlace row = table.pointee(i);
      const RunValue name = memory_.read(row.part(".name"));
      const RunValue needs = memory_.read(row.part(".has_arg"));
      if (!name.is(Kind::Text) || !needs.is(Kind::Integer))
        return {};
      if (name.text != wanted)
        continue;
      const RunValue flag = memory_.read(row.part(".flag"));
      if (!flag.is(Kind::Integer) || flag.integer != 0)
        return {};
      const bool takes_next = needs.integer == 1 && equals == std::string::npos;
      memory_.write(argument_place, equals != std::string::npos
                                        ? text_value(word.text.substr(equals + 1))
                                    : takes_next ? following
                                                 : integer_value(0));
      return end_with(memory_.read(row.part(".val")), index.integer + (takes_next ? 2 : 1));
    }
    return {};
  }
  const RunValue position = memory_.read(inside);
  const std::size_t at =
      position.is(Kind::Integer) ? static_cast<std::size_t>(position.integer) : 1;
  const char letter = at < word.text.size() ? word.text[at] : '\0';
  const std::size_t known = options.text.find(letter);
  if (known == std::string::npos || letter == '\0')
    return {};
  if (known + 1 < options.text.size() && options.text[known + 1] == ':') {
    const bool has_rest = at + 1 < word.text.size();
    memory_.write(argument_place, has_rest ? text_value(word.text.substr(at + 1)) : following);
    return end_with(integer_value(letter), index.integer + (has_rest ? 1 : 2));
  }
  if (at + 1 < word.text.size()) {
    memory_.write(index_place, index);
    memory_.write(inside, integer_value(static_cast<std::int64_t>(at) + 1));
    return integer_value(letter);
  }
  return end_with(integer_value(letter), index.integer + 1);
}

} // namespace warpwright::analysis
