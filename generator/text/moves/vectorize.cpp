// Move vectorize(width): `width` neighboring elements a thread, by loads and stores of up to 16
// bytes.
//
// The vector path runs where all addresses are aligned and all elements exist, the scalar path
// elsewhere, so every pointer and size is allowed. Arrays may have elements of different sizes,
// structures among them: a thread has the same number of elements of each, and as many loads as
// their bytes take. vector_plan.h has the conditions. Arrays that are read at other indices stay
// scalar.
#include "generator/text/moves/vector_plan.h"

#include "generator/text/templates/reduce.h"

#include <algorithm>
#include <bit>

namespace warpwright::moves {

namespace {

using source::ElementCondition;
using source::ElementWork;

/// Bytes of one array in a thread's registers.
constexpr int kMostBytes = 64;

/// Names and texts of one work at a width.
class VectorWriter {
public:
  /// @param used names of earlier works
  VectorWriter(const source::KernelSource &source, const VectorWork &work, int width, std::set<std::string> &used);
  /// The edit of the work. Errors: code inside a macro.
  Result<TextEdit> edit();

private:
  std::string new_name(const std::string &name);
  std::string vector_of(const VectorPart &part) const;
  void add_part(const VectorPart &part);
  std::string declarations() const;
  std::string fits() const;
  std::string scalar_condition() const;
  Result<void> add_returns(source::Edits &edits) const;
  Result<void> add_index_edits(source::Edits &edits) const;
  Result<std::string> statements_text(const std::vector<const clang::Stmt *> &statements,
                                      const source::Edits &edits) const;
  Result<std::string> vector_work() const;
  Result<std::string> scalar_work() const;
  Result<std::string> whole_text() const;

  const source::KernelSource &source_;
  const ElementWork &element_;
  const int width_;
  std::set<std::string> &used_;
  std::string first_, lane_, aligned_;
  std::string alignment_, arrays_, loads_, stores_;
  source::Edits accesses_; ///< edits of accesses for the vector path
};

VectorWriter::VectorWriter(const source::KernelSource &source, const VectorWork &work, int width,
                           std::set<std::string> &used)
    : source_(source), element_(work.element), width_(width), used_(used) {
  first_ = new_name("first");
  lane_ = new_name("lane");
  aligned_ = new_name("aligned");
  for (const VectorPart &part : work.parts)
    add_part(part);
}

std::string VectorWriter::new_name(const std::string &name) {
  return *used_.insert(source_.unused_name(name, used_)).first;
}

std::string VectorWriter::vector_of(const VectorPart &part) const {
  static const std::set<std::string> kBuiltin{"float", "int", "double"};
  const int bytes = part.load_bytes(width_);
  return kBuiltin.contains(part.element) && bytes == part.whole_bytes(width_) && part.elements == 1
             ? part.element + std::to_string(width_)
             : templates::vector_type(bytes);
}

void VectorWriter::add_part(const VectorPart &part) {
  const std::string name = new_name(part.array + "_part"), type = vector_of(part),
                    address = part.address(first_),
                    start = part.base_text.empty() ? part.array : part.array + " + " + part.base_text;
  const int bytes = part.load_bytes(width_), loads = part.whole_bytes(width_) / bytes;
  alignment_ += (alignment_.empty() ? "" : " &&\n    ") + std::string("reinterpret_cast<size_t>(") + start + ") % " +
                std::to_string(bytes) + " == 0";
  arrays_ += "  alignas(" + std::to_string(bytes) + ") " + part.element + " " + name + "[" +
             std::to_string(width_ * part.elements) + "];\n";
  const auto vector = [&](const std::string &pointer, bool is_const, int load) {
    const std::string cast = std::string("reinterpret_cast<") + (is_const ? "const " : "") + type + " *>(" + pointer + ")";
    return loads == 1 ? "*" + cast : cast + "[" + std::to_string(load) + "]";
  };
  for (int load = 0; load < loads; ++load) {
    if (part.needs_load)
      loads_ += "  " + vector(name, false, load) + " = " + vector(address, true, load) + ";\n";
    if (part.is_written)
      stores_ += "  " + vector(address, false, load) + " = " + vector(name, true, load) + ";\n";
  }
  const std::string factor = part.elements == 1 ? "" : std::to_string(part.elements) + " * ";
  for (const auto &[range, offset] : part.accesses)
    accesses_.push_back({range, name + "[" + factor + lane_ + (offset ? " + " + std::to_string(offset) : "") + "]"});
}

std::string VectorWriter::declarations() const {
  return "const bool " + aligned_ + " = " + alignment_ + ";\nconst " + element_.type + " " + first_ + " = (" +
         element_.start + ") * " + std::to_string(width_) + ";\n";
}

/// The condition of the vector path.
std::string VectorWriter::fits() const {
  const std::string last = first_ + " + " + std::to_string(width_ - 1);
  std::string text = aligned_;
  for (const ElementCondition &condition : element_.conditions)
    text += " && " + condition.text(first_, last);
  return text;
}

/// The condition of the scalar loop.
std::string VectorWriter::scalar_condition() const {
  std::string text = element_.name + " < " + first_ + " + " + std::to_string(width_);
  if (element_.is_simple())
    for (const ElementCondition &condition : element_.conditions)
      text += " && " + condition.text(element_.name, element_.name);
  return text;
}

/// An element that is done goes on with the next one.
Result<void> VectorWriter::add_returns(source::Edits &edits) const {
  for (const auto *leave : source::find_all<clang::ReturnStmt>(source_.body())) {
    if (const auto range = source_.range_of(leave))
      edits.push_back({*range, "continue"});
    else if (element_.shape == ElementWork::Shape::Straight)
      return fail("a return comes from a macro");
  }
  return {};
}

/// Other uses of the index in the vector path: `i` becomes `(first + lane)`.
Result<void> VectorWriter::add_index_edits(source::Edits &edits) const {
  for (const clang::Stmt *statement : element_.statements())
    for (const auto *reference : source::uses_of(statement, element_.index)) {
      const auto range = source_.range_of(reference);
      if (!range)
        return fail("the index is used inside a macro");
      const bool is_access = std::ranges::any_of(
          accesses_, [&](const TextEdit &edit) { return edit.range.contains(range->begin); });
      if (!is_access)
        edits.push_back({*range, "(" + first_ + " + " + lane_ + ")"});
    }
  return {};
}

Result<std::string> VectorWriter::statements_text(const std::vector<const clang::Stmt *> &statements,
                                                  const source::Edits &edits) const {
  std::string text;
  for (const clang::Stmt *statement : statements) {
    const auto begin = source_.range_of(statement), whole = source_.statement_range(statement);
    if (!begin || !whole)
      return fail("a statement comes from a macro");
    text += TRY(source_.level_text({begin->begin, whole->end}, edits)) + "\n";
  }
  return text;
}

Result<std::string> VectorWriter::vector_work() const {
  source::Edits edits = accesses_;
  TRY(add_index_edits(edits));
  TRY(add_returns(edits));
  if (element_.is_simple())
    return source_.level_text(element_.single_range, edits);
  auto text = TRY(statements_text(element_.statements(), edits));
  return source::without_trailing_space(text);
}

Result<std::string> VectorWriter::scalar_work() const {
  source::Edits edits;
  TRY(add_returns(edits));
  return source_.level_text(element_.single_range, edits);
}

constexpr std::string_view kVectorBody = R"cuda(if ($fits) {
  $arrays$loads  #pragma unroll
  for (int $lane = 0; $lane < $width; ++$lane) {
    $vector_work
  }
$stores} else {
  for ($type $i = $first; $scalar; ++$i) {
    $work
  }
})cuda";

Result<std::string> VectorWriter::whole_text() const {
  const std::string width = std::to_string(width_);
  const std::string body = source::render(kVectorBody,
                                          {{"fits", fits()},
                                           {"arrays", arrays_.substr(2)},
                                           {"loads", loads_},
                                           {"stores", stores_},
                                           {"lane", lane_},
                                           {"width", width},
                                           {"first", first_},
                                           {"type", element_.type},
                                           {"i", element_.name},
                                           {"scalar", scalar_condition()},
                                           {"work", source::deepen(TRY(scalar_work()), "    ")},
                                           {"vector_work", source::deepen(TRY(vector_work()), "    ")}});
  if (!element_.is_loop())
    return TRY(statements_text(element_.shared, {})) + declarations() + body;
  return "const bool " + aligned_ + " = " + alignment_ + ";\nfor (" + element_.type + " " + first_ + " = (" +
         element_.start + ") * " + width + "; " + first_ + " < " + element_.bound + "; " + first_ +
         " += " + source::parenthesised(element_.step) + " * " + width + ") {\n  " + source::deepen(body, "  ") +
         "\n}";
}

/// True if the text before the offset ends a statement or opens a block.
bool starts_statement(std::string_view text, std::size_t offset) {
  const std::string before = source::without_trailing_space(std::string(text.substr(0, offset)));
  return before.ends_with(';') || before.ends_with('{') || before.ends_with('}');
}

Result<TextEdit> VectorWriter::edit() {
  std::string text = TRY(whole_text());
  if (element_.is_loop() && !starts_statement(source_.text(), element_.whole.begin))
    text = "{\n  " + source::deepen(text, "  ") + "\n}";
  const std::string all = source::without_trailing_space(
      source::indent(text, indentation_at(source_.text(), element_.behind_pragmas), source_.indent_step()));
  const std::size_t before = indentation_at(source_.text(), element_.whole.begin).size(); // is there already
  return TextEdit{element_.whole, all.substr(std::min({all.find_first_not_of(" \t"), before, all.size()}))};
}

Result<source::Edits> vector_edits(const source::KernelSource &source, const VectorPlan &plan, int width) {
  source::Edits edits;
  std::set<std::string> used;
  for (const VectorWork &work : plan.works)
    edits.push_back(TRY(VectorWriter(source, work, width, used).edit()));
  if (!plan.works.front().element.is_loop())
    change_grids(edits, source,
                 [&](const std::string &grid) { return source::ceil_div_text(grid, width); });
  return edits;
}

/// True if the width gives loads that are wider than an element, and no more than a thread can hold.
bool is_useful(const VectorPlan &plan, int width) {
  int smallest = kMostBytes, largest = 0;
  bool widens = false;
  for (const VectorWork &work : plan.works)
    for (const VectorPart &part : work.parts) {
      smallest = std::min(smallest, part.whole_bytes(1));
      largest = std::max(largest, part.whole_bytes(1));
      widens |= part.load_bytes(width) > part.bytes || !std::has_single_bit(unsigned(part.bytes));
    }
  const int most_of_smallest = std::has_single_bit(unsigned(smallest)) ? 16 : 48;
  return widens && width * smallest <= most_of_smallest && width * largest <= kMostBytes;
}

} // namespace

Result<Offer> offer_vectorize(const source::KernelSource &source) {
  const auto plan = vector_plan(source::IndexReader(source));
  if (!plan)
    return std::unexpected(plan.error());
  auto choices = choices_of("width", {2, 4, 8, 16});
  std::erase_if(choices, [&](const Parameters &choice) { return !is_useful(*plan, number(choice, "width")); });
  if (choices.empty())
    return fail("the elements are too large for vector loads");
  const bool is_loop = plan->works.front().element.is_loop();
  return Offer{choices,
               [&source, plan = *plan](const Parameters &choice) {
                 return vector_edits(source, plan, number(choice, "width"));
               },
               [is_loop](const Parameters &choice) {
                 return source::LaunchChange{.grid_divisors = {is_loop ? 1 : number(choice, "width"), 1, 1}};
               }};
}

} // namespace warpwright::moves
