// Writer of one pass of a row kernel; see row_pass_text.h. A chunk's loads precede its arithmetic, so they overlap.
#include "generator/families/rows/row_pass_text.h"

#include "generator/ops/scalar_ops.h"

#include <algorithm>
#include <functional>

namespace warpwright::families::rows {
namespace {

/// Results of a thread that may wait in registers for its last load.
constexpr std::int64_t kMostWaitingResults = 32;

class RowPassText {
public:
  explicit RowPassText(const RowLayout &layout) : layout_(layout) {}

  /// Text of one pass: loads, computation, accumulation and stores.
  std::string text(int pass) {
    const RowPass &now = layout_.plan(pass);
    if (now.reductions.empty() && now.outputs.empty())
      return "";
    const std::string unroll = std::to_string(layout_.shape.unroll),
                      vector = std::to_string(layout_.shape.vector);
    std::string text;
    if (layout_.has_reductions(pass))
      text += layout_.declare_state(pass);
    const bool one_chunk =
        layout_.shape.splits == 1 && layout_.chunk() >= layout_.program.row_length;
    if (one_chunk)
      text += "  {\n  constexpr " + layout_.indices.type() + " start = 0;\n";
    else if (pass % 2 == 1)
      text += "  for (" + layout_.indices.type() + " start = begin + (end - begin - 1) / " +
              std::to_string(layout_.chunk()) + " * " + std::to_string(layout_.chunk()) +
              "; start >= begin; start -= " + std::to_string(layout_.chunk()) + ") {\n";
    else
      text += "  for (" + layout_.indices.type() +
              " start = begin; start < end; start += " + std::to_string(layout_.chunk()) + ") {\n";
    text += "    bool valid[" + unroll + "];\n";
    for (const std::string &leaf : now.leaves)
      if (!is_held(leaf))
        text += "    " + layout_.compute_type(leaf) + " h_" + leaf + "[" + unroll + "][" + vector +
                "];\n";
    text += load_loop(now);
    for (const std::size_t i : now.reductions)
      if (!layout_.states.of(i).type.empty())
        text += "    " + layout_.states.operand_type(i) + " o_" +
                layout_.program.reductions[i].node + "[" + std::to_string(layout_.indices.width()) +
                "][" + std::to_string(layout_.values_a_chunk()) + "];\n";
    if (needs_positions(now))
      text += "    " + layout_.indices.type() + " at[" + std::to_string(layout_.values_a_chunk()) +
              "];\n";
    text += compute_loop(pass);
    for (const std::size_t i : now.reductions)
      text += accumulate(i, pass);
    return text + "  }\n";
  }

private:
  bool is_held(const std::string &value) const {
    return layout_.shape.hold &&
           std::ranges::find(layout_.passes.held, value) != layout_.passes.held.end();
  }
  bool needs_positions(const RowPass &now) const {
    return std::ranges::any_of(now.reductions,
                               [&](std::size_t i) { return layout_.states.needs_position(i); });
  }

  std::string position() const {
    const std::string step = layout_.inner ? " * " + std::to_string(layout_.shape.vector) : "";
    return "const " + layout_.indices.type() + " r = start + (u * " +
           std::to_string(layout_.shape.group) + " + part)" + step + ";\n";
  }
  std::string load_loop(const RowPass &now) const {
    std::string text = "#pragma unroll\n    for (int u = 0; u < " +
                       std::to_string(layout_.shape.unroll) + "; ++u) {\n      " + position();
    text +=
        std::string("      valid[u] = ") + (layout_.exact() ? "true" : "live && r < end") + ";\n";
    if (!now.leaves.empty()) {
      text += "      if (valid[u]) {\n" + layout_.indices.declare_reduced("        ");
      text += "        const " + layout_.indices.type() + " offset = " + layout_.indices.offset() +
              ";\n";
      for (const std::string &leaf : now.leaves)
        text += "        warpwright_rows::load<" + std::to_string(layout_.shape.vector) + ">(in" +
                std::to_string(input_number(leaf)) + " + offset, h_" + leaf + "[u]);\n";
      text += "      }\n";
    }
    return text + "    }\n";
  }

  std::int64_t input_number(const std::string &name) const {
    return std::ranges::find(layout_.region.inputs, name) - layout_.region.inputs.begin();
  }

  std::string compute_loop(int pass) {
    const RowPass &now = layout_.plan(pass);
    const std::string vectors = "#pragma unroll\n    for (int u = 0; u < " +
                                std::to_string(layout_.shape.unroll) +
                                "; ++u) {\n      if (valid[u]) {\n        " + position() +
                                layout_.indices.declare_reduced("        "),
                      end = "      }\n    }\n";
    std::string text, stores;
    for (const std::size_t i : now.outputs) {
      text += "    " + layout_.compute_type(layout_.program.outputs[i].node) + " y" +
              std::to_string(i) + "[" + std::to_string(layout_.shape.unroll) + "][" +
              std::to_string(layout_.shape.vector) + "];\n";
      stores += store_elements(layout_.program.outputs[i], i);
    }
    // Stores stand behind the loads of all vectors, unless their results would fill the registers.
    const std::int64_t results =
        static_cast<std::int64_t>(now.outputs.size()) * layout_.shape.unroll * layout_.shape.vector;
    const bool together = stores.empty() || results > kMostWaitingResults;
    return text + vectors + vector_text(pass) + (together ? "" : end + vectors) + stores + end;
  }

  /// Text that computes the results of the pass for one vector of elements.
  std::string vector_text(int pass) {
    const RowPass &now = layout_.plan(pass);
    elements::ElementWriter writer(layout_.graph, layout_.region);
    layout_.bind_rows(writer, pass, std::nullopt);
    const auto held_lanes = [&](const std::string &value) {
      std::vector<std::string> lanes;
      for (int lane = 0; lane < layout_.shape.vector; ++lane)
        lanes.push_back("h_" + value + "[u][" + std::to_string(lane) + "]");
      return lanes;
    };
    for (const auto *values : {&now.leaves, &now.reused})
      for (const std::string &value : *values)
        writer.bind(value, held_lanes(value));
    std::string text;
    const auto load = [&](const std::string &value) {
      std::vector<elements::Index> lanes;
      for (int lane = 0; lane < layout_.shape.vector; ++lane)
        lanes.push_back(layout_.indices.element(layout_.graph.node(value).type().shape, lane));
      return writer.load(value, lanes, text);
    };
    const auto assign = [&](const std::string &value, const std::function<std::string(int)> &to) {
      const std::vector<std::string> results = load(value);
      for (int lane = 0; lane < layout_.shape.vector; ++lane)
        text += to(lane) + " = " + results[static_cast<std::size_t>(lane)] + ";\n";
    };
    for (const std::string &value : now.produced)
      assign(value, [&](int lane) { return held_lanes(value)[static_cast<std::size_t>(lane)]; });
    for (const std::size_t i : now.reductions)
      if (!layout_.states.of(i).type.empty())
        assign(layout_.program.reductions[i].operand,
               [&](int lane) { return "o_" + layout_.program.reductions[i].node + slot(lane); });
    if (needs_positions(now))
      for (int lane = 0; lane < (layout_.inner ? layout_.shape.vector : 1); ++lane)
        text += (layout_.inner ? "at[u * " + std::to_string(layout_.shape.vector) + " + " +
                                     std::to_string(lane) + "]"
                               : std::string("at[u]")) +
                " = r + " + std::to_string(lane) + ";\n";
    for (const std::size_t i : now.outputs)
      assign(layout_.program.outputs[i].node, [&](int lane) {
        return "y" + std::to_string(static_cast<std::int64_t>(i)) + "[u][" + std::to_string(lane) +
               "]";
      });
    return text;
  }
  /// Index of an operand's element in the array that the thread accumulates.
  std::string slot(int lane) const {
    return layout_.inner ? "[0][u * " + std::to_string(layout_.shape.vector) + " + " +
                               std::to_string(lane) + "]"
                         : "[" + std::to_string(lane) + "][u]";
  }

  std::string store_elements(const RowOutput &output, std::size_t i) const {
    const std::string name = "y" + std::to_string(static_cast<std::int64_t>(i)) + "[u]";
    if (!layout_.region.strides.contains(output.node))
      return "        warpwright_rows::store<" + std::to_string(layout_.shape.vector) + ">(out" +
             std::to_string(static_cast<std::int64_t>(output.index)) + " + (" +
             layout_.indices.offset() + "), " + name + ");\n";
    std::string text;
    const model::TensorType &type = layout_.graph.node(output.node).type();
    for (int lane = 0; lane < layout_.shape.vector; ++lane)
      text += "        " + layout_.element_of(output, layout_.indices.element(type.shape, lane)) +
              " = " + ops::to_memory(name + "[" + std::to_string(lane) + "]", type.dtype) + ";\n";
    return text;
  }

  std::string accumulate(std::size_t i, int pass) const {
    const RowStates::Accumulator &a = layout_.states.of(i);
    if (a.type.empty())
      return "";
    const bool positions = layout_.states.needs_position(i);
    std::string text;
    for (int lane = 0; lane < layout_.indices.width(); ++lane)
      text += "    state" + std::to_string(pass) + "[" + std::to_string(lane) + "]." + a.field +
              ".add<" + std::to_string(layout_.inner ? layout_.shape.vector : 1) + ">(o_" +
              layout_.program.reductions[i].node + "[" + std::to_string(lane) + "], valid" +
              (positions ? ", at" : "") + ");\n";
    return text;
  }

  const RowLayout &layout_;
};

} // namespace

std::string row_pass_text(const RowLayout &layout, int pass) {
  return RowPassText(layout).text(pass);
}

} // namespace warpwright::families::rows
