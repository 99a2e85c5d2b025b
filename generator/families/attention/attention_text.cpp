#include "generator/families/attention/attention_text.h"

#include "generator/elements/window_text.h"
#include "generator/ops/scalar_ops.h"

#include <numbers>

namespace warpwright::families::attention {

constexpr int kWide = 4; ///< columns that are stored at once

const char *const kAttentionDevice = "\n"
#include "generator/device/half_mma.cuh.inc"
                                     "\n"
#include "generator/device/attention.cuh.inc"
    ;

namespace {

std::string number_text(double value) { return ops::literal(value, model::Dtype::Float32); }

std::string changed(const std::string &score, const std::string &lane, bool is_bool) {
  return is_bool ? "        if (!" + lane + ")\n          " + score +
                       " = warpwright_attention::hidden();\n"
                 : "        " + score + " += (float)" + lane + ";\n";
}

} // namespace

AttentionText::AttentionText(const ops::GraphIndex &graph, const elements::Region &region,
                             const AttentionProblem &problem)
    : graph_(graph), problem_(problem), writer_(graph, region) {
  writer_.bound("batch", problem.batches());
  writer_.bound("query", problem.queries);
  writer_.bound("head", problem.heads);
  writer_.bound("key", problem.keys);
  writer_.bound("pair", elements::ceil_divide(problem.keys, 2));
  writer_.bound("column", problem.width);
  writer_.bound("column_group", problem.width / kWide);
}

std::string AttentionText::window() const {
  const std::string keys = std::to_string(problem_.keys);
  if (!problem_.causal)
    return "0, " + keys;
  const std::string query = "row / " + std::to_string(problem_.heads);
  return "0, " + query + " < " + keys + " ? " + query + " + 1 : " + keys;
}

std::string AttentionText::factor() const {
  return number_text((problem_.changes_scores() ? 1.0 : problem_.scale) * std::numbers::log2e);
}

std::string AttentionText::score() {
  if (!problem_.changes_scores())
    return {};
  std::string text;
  for (const char *one : {"values[0]", "values[1]"})
    text += problem_.softcap == 0
                ? "        " + std::string(one) + " *= " + number_text(problem_.scale) + ";\n"
                : "        " + std::string(one) + " = " + number_text(problem_.softcap) +
                      " * warpwright_attention::tanh_of(" + one + " * " +
                      number_text(problem_.scale / problem_.softcap) + ");\n";
  if (problem_.mask.empty())
    return text;
  text += place();
  const bool is_even = problem_.keys % 2 == 0;
  if (is_even) {
    text += "        if (pair < " + std::to_string(problem_.keys / 2) + ") {\n";
    const std::vector<elements::Index> lanes{score_index("(2 * pair)"),
                                             score_index("(2 * pair + 1)")};
    const auto values = writer_.load(problem_.mask, lanes, text);
    return text + changed("values[0]", values[0]) + changed("values[1]", values[1]) + "        }\n";
  }
  for (const std::string lane : {"0", "1"}) {
    text += "        if (const int key = 2 * pair + " + lane + "; key < " +
            std::to_string(problem_.keys) + ") {\n";
    const std::string value = writer_.load(problem_.mask, score_index("key"), text);
    text += changed("values[" + lane + "]", value) + "        }\n";
  }
  return text;
}

std::string AttentionText::store() {
  std::string text = place();
  const int wide = writer_.store_width() >= kWide ? kWide : 1;
  if (wide == kWide)
    text += "    const int column_group = column / 4;\n";
  std::vector<elements::Index> lanes;
  std::vector<std::string> values;
  for (int i = 0; i < kWide; ++i) {
    const std::string column = wide == kWide ? "(4 * column_group + " + std::to_string(i) + ")"
                                             : "(column + " + std::to_string(i) + ")";
    lanes.push_back(result_index(column));
    values.push_back("values[" + std::to_string(i) + "]");
  }
  if (wide == kWide)
    return text + writer_.store(lanes, values);
  for (int i = 0; i < kWide; ++i)
    text += "    {\n" + writer_.store(lanes[i], values[i]) + "    }\n";
  return text;
}

std::string AttentionText::changed(const std::string &score, const std::string &lane) const {
  return families::attention::changed(
      score, lane, graph_.node(problem_.mask).type().dtype == model::Dtype::Bool);
}

/// Declares query and head of a row.
std::string AttentionText::place() const {
  const std::string heads = std::to_string(problem_.heads);
  return "    [[maybe_unused]] const int query = row / " + heads + ", head = row % " + heads +
         ";\n";
}

/// Index of the dimensions before rows, with the heads of queries.
elements::Index AttentionText::lead() const {
  elements::Index index = elements::unflatten("batch", problem_.batch);
  if (problem_.heads > 1)
    index.back() = "(" + index.back() + " * " + std::to_string(problem_.heads) + " + head)";
  return index;
}

elements::Index AttentionText::result_index(const std::string &column) const {
  elements::Index index = lead();
  index.push_back("query");
  index.push_back(column);
  return index;
}

/// Index of the mask, which broadcasts to the scores.
elements::Index AttentionText::score_index(const std::string &key) const {
  elements::Index all = lead();
  all.push_back("query");
  all.push_back(key);
  const model::Shape &shape = graph_.node(problem_.mask).type().shape;
  elements::Index index(all.end() - std::ssize(shape), all.end());
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == 1)
      index[i] = "0";
  return index;
}

} // namespace warpwright::families::attention
