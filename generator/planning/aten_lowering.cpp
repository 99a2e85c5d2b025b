#include "generator/planning/aten_lowering.h"

#include "generator/elements/memory_view.h"
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "generator/ops/op_traits.h"
#include "generator/planning/channels_last.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace warpwright::planning {
namespace {

using model::AtenArgument;
using model::AtenStep;
using model::Node;
using model::Shape;
using model::TensorView;

class AtenLowering {
public:
  AtenLowering(const ops::GraphIndex &graph, const elements::Region &region)
      : graph_(graph), region_(region), node_(graph.node(region.anchor)) {}

  Result<AtenStep> run() {
    if (node_.op == op::aten)
      return recorded();
    if (node_.op == op::matmul)
      return product();
    if (node_.op == op::conv && library_last() != node_.name)
      return convolution_with_relu();
    const ops::CallLibrary library = ops::op_of(node_).library;
    if (!library)
      return fail("there is no known ATen operator for \"" + node_.op + "\" (" + node_.name + ")",
                  "A family has to lower it");
    ops::LibraryCall call{node_, {}};
    bool has_grouped_heads = false;
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      const std::string &read = elements::unrepeated_operand(graph_, node_, i);
      has_grouped_heads |= read != node_.inputs[i];
      call.inputs.push_back(view(read));
    }
    auto step = library(call);
    if (!step)
      return fail(node_.name + ": " + step.error().message);
    if (has_grouped_heads)
      step->keywords["enable_gqa"] = true;
    step->results.push_back(whole(node_.name));
    return step;
  }

private:
  TensorView view(const std::string &value) const {
    const elements::MemoryView memory = elements::view_of(graph_, value, region_.strides);
    return {memory.root, memory.offset, memory.shape, memory.strides};
  }
  TensorView input(std::size_t i) const { return view(node_.inputs.at(i)); }
  TensorView whole(const std::string &value) const {
    const model::TensorType type = elements::region_type(graph_, region_, value);
    return {value, 0, type.shape, model::strides_of(type)};
  }

  /// Returns a matrix operand of a batched product, with batch dimensions broadcast to those of the result.
  TensorView batched(const TensorView &operand, const Shape &batch) const {
    TensorView result = operand;
    result.shape = batch;
    result.strides.assign(batch.size(), 0);
    const std::size_t own = operand.shape.size() - 2, lead = batch.size() - own;
    for (std::size_t d = 0; d < own; ++d)
      if (operand.shape[d] == batch[lead + d])
        result.strides[lead + d] = operand.strides[d];
    for (std::size_t d = own; d < own + 2; ++d) {
      result.shape.push_back(operand.shape[d]);
      result.strides.push_back(operand.strides[d]);
    }
    return result;
  }

  /// Joins the leading dimensions into one, before the last `keep`; nullopt where strides do not allow it.
  static std::optional<TensorView> joined(const TensorView &view, std::size_t keep) {
    TensorView result = view;
    const std::size_t lead = view.shape.size() - keep;
    std::int64_t size = 1, stride = 1;
    bool any = false;
    for (std::size_t d = lead; d-- > 0;) {
      if (view.shape[d] == 1)
        continue;
      if (!any)
        stride = view.strides[d];
      else if (view.strides[d] != stride * size)
        return std::nullopt;
      any = true;
      size *= view.shape[d];
    }
    result.shape.assign(1, size);
    result.shape.insert(result.shape.end(), view.shape.begin() + static_cast<std::ptrdiff_t>(lead),
                        view.shape.end());
    result.strides.assign(1, any ? stride : 1);
    result.strides.insert(result.strides.end(),
                          view.strides.begin() + static_cast<std::ptrdiff_t>(lead),
                          view.strides.end());
    return result;
  }

  Result<AtenStep> product() {
    TensorView a = input(0), b = input(1);
    if (a.shape.size() < 2 || b.shape.size() < 2)
      return AtenStep{"aten::matmul", {a, b}, {}, {whole(node_.name)}};
    const std::string last = library_last();
    const TensorView result{last, 0, node_.type().shape, {}};
    if (b.shape.size() == 2) {
      // Rows of all batches are rows of one matrix.
      if (const auto rows = joined(a, 1)) {
        const TensorView flat{last, 0, {rows->shape[0], b.shape[1]}, {b.shape[1], 1}};
        if (last == node_.name)
          return AtenStep{"aten::mm", {*rows, b}, {}, {flat}};
        return with_bias(*rows, b, flat);
      }
    }
    const Shape batch(node_.type().shape.begin(), node_.type().shape.end() - 2);
    const auto left = joined(batched(a, batch), 2), right = joined(batched(b, batch), 2);
    if (!left || !right)
      return AtenStep{"aten::matmul", {a, b}, {}, {whole(node_.name)}};
    const Shape flat{left->shape[0], left->shape[1], right->shape[2]};
    return AtenStep{"aten::bmm", {*left, *right}, {}, {TensorView{node_.name, 0, flat, {}}}};
  }

  /// Returns the last member that the library computes.
  std::string library_last() const {
    std::string last = node_.name;
    for (const std::string &follower : library_epilogue(graph_, node_))
      if (std::ranges::find(region_.nodes, follower) != region_.nodes.end())
        last = follower;
    return last;
  }

  AtenStep with_bias(const TensorView &rows, const TensorView &b, const TensorView &result) const {
    const auto followers = library_epilogue(graph_, node_);
    const Node &add = graph_.node(followers.front());
    const TensorView bias = view(add.inputs[add.inputs[0] == node_.name ? 1 : 0]);
    TensorView flat = bias;
    flat.shape = {bias.shape.back()};
    flat.strides = {bias.strides.back()};
    if (result.buffer == add.name)
      return {"aten::addmm", {flat, rows, b}, {}, {result}};
    return {"aten::_addmm_activation", {flat, rows, b}, {}, {result}};
  }

  /// A convolution with bias and relu, and with the addition of a residual between them. The last member lies in memory
  /// over (N, spatial..., C), which for the library is (N, C, spatial...) channels-last.
  Result<AtenStep> convolution_with_relu() const {
    const ops::LibraryCall call{node_, {input(0), input(1), input(2)}};
    std::optional<TensorView> residual;
    for (const std::string &follower : library_epilogue(graph_, node_))
      if (const Node &add = graph_.node(follower); add.op == op::add)
        residual = channels_second(view(add.inputs[is_of_convolution(add.inputs[0]) ? 1 : 0]));
    AtenStep step = ops::library::convolution_with_relu(call, residual);
    step.results = {channels_second(whole(library_last()))};
    return step;
  }

  bool is_of_convolution(const std::string &value) const {
    const Node &turned = graph_.node(value);
    return turned.op == op::permute && turned.inputs[0] == node_.name;
  }

  /// Returns the view of (N, spatial..., C) as (N, C, spatial...).
  static TensorView channels_second(TensorView view) {
    view.strides = model::strides_of({model::Dtype::Float32, view.shape, view.strides});
    for (Shape *list : {&view.shape, &view.strides})
      std::rotate(list->begin() + 1, list->end() - 1, list->end());
    return view;
  }

  AtenArgument argument(const nlohmann::json &json) {
    if (json.is_null())
      return std::monostate{};
    if (json.is_boolean())
      return json.get<bool>();
    if (json.is_number_integer())
      return json.get<std::int64_t>();
    if (json.is_number())
      return json.get<double>();
    if (json.is_string())
      return json.get<std::string>();
    if (json.is_array()) {
      if (std::ranges::all_of(json, [](const auto &item) { return item.is_number_integer(); }))
        return json.get<Shape>();
      error_ = "a list that no ATen step can hold: " + json.dump();
      return std::monostate{};
    }
    if (json.contains("tensor"))
      return input(json["tensor"].get<std::size_t>());
    if (json.contains("number"))
      return std::strtod(json["number"].get<std::string>().c_str(), nullptr);
    std::vector<TensorView> views;
    for (const auto &item : json.value("tensors", nlohmann::json::array()))
      views.push_back(item.is_null() ? TensorView{} : input(item.get<std::size_t>()));
    return views;
  }

  Result<AtenStep> recorded() {
    AtenStep step;
    step.op = ops::text_attribute(node_, "target");
    const auto arguments =
        nlohmann::json::parse(ops::text_attribute(node_, "arguments", "[]"), nullptr, false);
    const auto keywords =
        nlohmann::json::parse(ops::text_attribute(node_, "keywords", "{}"), nullptr, false);
    if (!arguments.is_array() || !keywords.is_object())
      return fail(node_.name + ": the recorded arguments are not JSON");
    for (const auto &item : arguments)
      step.arguments.push_back(argument(item));
    for (const auto &[name, item] : keywords.items())
      step.keywords[name] = argument(item);
    if (!error_.empty())
      return fail(node_.name + ": " + error_);
    // A node stands for its result 0 unless items pick another.
    step.results.resize(node_.types.size());
    for (const std::string &output : region_.outputs) {
      const Node &value = graph_.node(output);
      step.results[value.op == op::item ? ops::integer_attribute(value, "index") : 0] =
          whole(output);
    }
    while (!step.results.empty() && step.results.back().buffer.empty())
      step.results.pop_back();
    return step;
  }

  const ops::GraphIndex &graph_;
  const elements::Region &region_;
  const Node &node_;
  std::string error_;
};

} // namespace

/// Returns the view of a channels-last convolution over (N, spatial..., C), with the addition and the relu behind it.
std::vector<std::string> convolution_epilogue(const ops::GraphIndex &graph, const Node &conv) {
  const auto sole_user = [&](const Node &value) -> const Node * {
    const auto &users = graph.users(value.name);
    return users.size() == 1 && !graph.is_result(value.name) ? users[0] : nullptr;
  };
  const Node *turned = conv.inputs.size() == 3 ? sole_user(conv) : nullptr;
  if (!turned || turned->op != op::permute || !ops::flag_attribute(*turned, std::string(kTurned)))
    return {};
  std::vector<std::string> result{turned->name};
  const Node *last = sole_user(*turned);
  if (last && last->op == op::add && last->inputs[0] != last->inputs[1] &&
      std::ranges::all_of(last->inputs, [&](const std::string &input) {
        return graph.node(input).type().shape == turned->type().shape &&
               graph.node(input).type().dtype == turned->type().dtype;
      })) {
    result.push_back(last->name);
    last = sole_user(*last);
  }
  if (!last || last->op != op::relu || last->type().shape != turned->type().shape)
    return {};
  result.push_back(last->name);
  return result;
}

std::vector<std::string> library_epilogue(const ops::GraphIndex &graph, const Node &anchor) {
  if (anchor.op == op::conv)
    return convolution_epilogue(graph, anchor);
  const auto sole_user = [&](const Node &value, std::string_view op) -> const Node * {
    const auto &users = graph.users(value.name);
    if (users.size() != 1 || graph.is_result(value.name) || users[0]->op != op ||
        users[0]->type().shape != value.type().shape ||
        users[0]->type().dtype != value.type().dtype)
      return nullptr;
    return users[0];
  };
  if (anchor.op != op::matmul || anchor.inputs.size() != 2 ||
      graph.node(anchor.inputs[1]).type().shape.size() != 2 ||
      !model::is_floating(anchor.type().dtype))
    return {};
  const elements::MemoryView rows = elements::view_of(graph, anchor.inputs[0], {});
  if (rows.shape.size() < 2)
    return {};
  for (std::size_t d = 0; d + 2 < rows.shape.size(); ++d)
    if (rows.shape[d] != 1 && rows.strides[d] != rows.strides[d + 1] * rows.shape[d + 1])
      return {}; // no matrix of all rows
  const Node *add = sole_user(anchor, op::add);
  if (!add || add->inputs[0] == add->inputs[1])
    return {};
  const elements::MemoryView bias =
      elements::view_of(graph, add->inputs[add->inputs[0] == anchor.name ? 1 : 0], {});
  const Node &root = graph.node(bias.root);
  if (!ops::is_buffer_leaf(root) || root.type().dtype != anchor.type().dtype ||
      bias.shape.empty() || model::elements_of(bias.shape) != bias.shape.back() ||
      bias.shape.back() != anchor.type().shape.back())
    return {};
  std::vector<std::string> result{add->name};
  if (const Node *relu = sole_user(*add, op::relu))
    result.push_back(relu->name);
  return result;
}

Result<AtenStep> lower_aten(const ops::GraphIndex &graph, const elements::Region &region) {
  return AtenLowering(graph, region).run();
}

} // namespace warpwright::planning
