// Writer of row kernels; see row_kernel.h.
#include "generator/families/rows/row_kernel.h"

#include "generator/families/rows/row_accumulators.h"
#include "generator/families/rows/row_pass_text.h"
#include "generator/ops/scalar_ops.h"

#include <algorithm>

namespace warpwright::families::rows {
namespace {

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

class RowKernelWriter {
public:
  RowKernelWriter(const RowProgram &program, const RowShape &shape, std::string prefix)
      : layout_(program, shape, std::move(prefix)) {}

  Result<elements::Lowering> write() {
    if (auto checked = layout_.check(); !checked)
      return std::unexpected(checked.error());
    elements::Lowering result;
    result.source = row_prelude();
    if (layout_.shape.cluster > 1)
      result.source += row_cluster_prelude();
    if (layout_.shape.gang > 1)
      result.source += row_gang_prelude();
    for (int pass = 0; pass < layout_.program.passes; ++pass)
      result.source += layout_.states.text(pass, layout_.struct_name(pass));
    if (layout_.shape.gang > 1) {
      result.temporaries.push_back(
          {layout_.counters(), model::Dtype::Int32,
           symbolic::Expression(layout_.program.passes * layout_.program.rows)});
      result.steps.push_back(model::FillStep{layout_.counters(), 0});
      for (int pass = 0; pass < layout_.program.passes; ++pass)
        if (layout_.has_reductions(pass))
          result.temporaries.push_back(
              {layout_.partials(pass), model::Dtype::Float64,
               symbolic::Expression(layout_.program.rows * layout_.shape.gang *
                                    layout_.states.words(pass))});
    }
    if (layout_.shape.splits == 1) {
      result.source += kernel("rows", 0, layout_.program.passes, true);
      result.steps.push_back(launch("rows", 1));
      return result;
    }
    for (int pass = 0; pass < layout_.program.passes; ++pass) {
      const std::string name = "pass" + std::to_string(pass);
      result.source += kernel(name, pass, pass + 1, false);
      result.steps.push_back(launch(name, layout_.shape.splits));
      if (layout_.has_reductions(pass))
        result.temporaries.push_back(
            {layout_.partials(pass), model::Dtype::Float64,
             symbolic::Expression(layout_.program.rows * layout_.shape.splits *
                                  layout_.states.words(pass))});
    }
    if (layout_.has_row_outputs(layout_.program.passes)) {
      result.source += kernel("finish", layout_.program.passes, layout_.program.passes, false);
      result.steps.push_back(launch("finish", 1));
    }
    return result;
  }

private:
  model::Step launch(const std::string &name, int splits) const {
    model::LaunchStep step;
    step.kernel = layout_.prefix + "_" + name;
    const std::int64_t rows = layout_.shape.gang > 1
                                  ? layout_.shape.gangs
                                  : ceil_divide(layout_.program.rows, layout_.rows_a_block());
    step.grid = {symbolic::Expression(rows * layout_.shape.cluster * layout_.shape.gang),
                 symbolic::Expression(splits), symbolic::Expression(1)};
    step.cooperative = layout_.shape.gang > 1;
    step.block = {symbolic::Expression(layout_.shape.threads), symbolic::Expression(1),
                  symbolic::Expression(1)};
    step.arguments = elements::ElementWriter(layout_.graph, layout_.region).arguments();
    if (layout_.shape.splits > 1 || layout_.shape.gang > 1)
      for (int pass = 0; pass < layout_.program.passes; ++pass)
        if (layout_.has_reductions(pass))
          step.arguments.push_back(
              model::BufferArgument{layout_.partials(pass), symbolic::Expression(0)});
    if (layout_.shape.gang > 1)
      step.arguments.push_back(model::BufferArgument{layout_.counters(), symbolic::Expression(0)});
    return step;
  }

  /// Text of a kernel that runs passes [first, last) after it merges the partial results of earlier passes.
  std::string kernel(const std::string &name, int first, int last, bool all) {
    layout_.known_rows.clear();
    std::string parameters = elements::ElementWriter(layout_.graph, layout_.region).parameters();
    if (!all || layout_.shape.gang > 1)
      for (int pass = 0; pass < layout_.program.passes; ++pass)
        if (layout_.has_reductions(pass))
          parameters += ", " + layout_.struct_name(pass) + " *__restrict__ partials" + std::to_string(pass);
    if (layout_.shape.gang > 1)
      parameters += ", unsigned *__restrict__ counters";
    const std::string cluster =
        layout_.shape.cluster > 1 ? "__cluster_dims__(" + std::to_string(layout_.shape.cluster) + ", 1, 1) "
                                  : "";
    std::string text = "extern \"C\" __global__ void " + cluster + "__launch_bounds__(" +
                       std::to_string(layout_.shape.threads) +
                       (layout_.shape.gang > 1 ? ", " + std::to_string(layout_.shape.resident) : "") +
                       ") " + layout_.prefix + "_" + name + "(" + parameters + ") {\n";
    text += header(all, !all && first % 2 == 1);
    if (layout_.shape.hold)
      for (const std::string &value : layout_.passes.held)
        text += "  " + layout_.compute_type(value) + " h_" + value + "[" +
                std::to_string(layout_.shape.unroll) + "][" + std::to_string(layout_.shape.vector) + "];\n";
    text += row_scope(0, all || first == 0);
    for (int pass = 0; pass < first; ++pass) {
      text += merge_partials(pass);
      text += row_scope(pass + 1, first == pass + 1);
    }
    for (int pass = first; pass < last; ++pass) {
      text += row_pass_text(layout_, pass);
      if (!layout_.has_reductions(pass))
        continue;
      text += reduce(pass);
      if (layout_.shape.cluster > 1 && pass == layout_.last_reduction())
        text += "  warpwright_rows::cluster_arrive();\n";
      text += all ? row_scope(pass + 1, true) : store_partials(pass);
    }
    if (layout_.shape.cluster > 1)
      text += "  warpwright_rows::cluster_wait();\n";
    return text + (layout_.shape.gang > 1 ? "  }\n}\n" : "}\n");
  }

  /// @param backwards blocks take the last rows first, because the previous pass left those in the cache
  std::string header(bool all, bool backwards) const {
    const std::string index = layout_.indices.type();
    const std::string thread = "static_cast<int>(threadIdx.x)";
    std::string text = "  const " + index + " block = static_cast<" + index + ">(" +
                       (backwards ? "gridDim.x - 1 - blockIdx.x);\n" : "blockIdx.x);\n");
    if (layout_.shape.splits > 1)
      text += "  const " + index + " split = static_cast<" + index + ">(" +
              (backwards ? "gridDim.y - 1 - " : "") + "blockIdx.y);\n";
    if (layout_.shape.gang > 1) {
      text += "  const int rank = static_cast<int>(block % " + std::to_string(layout_.shape.gang) + ");\n";
      text += "  const int part = rank * " + std::to_string(layout_.shape.threads) + " + " + thread + ";\n";
      // The barrier protects scratch memory of the previous row until all threads have read it.
      text += "  for (" + index + " first_row = block / " + std::to_string(layout_.shape.gang) +
              "; first_row < " + std::to_string(layout_.program.rows) +
              "; first_row += " + std::to_string(layout_.shape.gangs) + ") {\n  __syncthreads();\n";
    } else if (layout_.shape.cluster > 1) {
      text += "  const int part = static_cast<int>(warpwright_rows::cluster_rank()) * " +
              std::to_string(layout_.shape.threads) + " + " + thread + ";\n";
      text += "  const " + index + " first_row = block / " + std::to_string(layout_.shape.cluster) + ";\n";
    } else if (layout_.inner) {
      text += "  const int part = " + thread + " % " + std::to_string(layout_.shape.group) + ";\n";
      text += "  const " + index + " first_row = block * " + std::to_string(layout_.lanes()) + " + " +
              thread + " / " + std::to_string(layout_.shape.group) + ";\n";
    } else {
      text += "  const int part = " + thread + " / " + std::to_string(layout_.lanes()) + ";\n";
      text += "  const " + index + " first_row = (block * " + std::to_string(layout_.lanes()) + " + " +
              thread + " % " + std::to_string(layout_.lanes()) + ") * " + std::to_string(layout_.shape.vector) +
              ";\n";
    }
    if (layout_.program.rows % layout_.rows_a_block() == 0) {
      text += "  constexpr bool live = true;\n  const " + index + " row = first_row;\n";
    } else {
      text += "  const bool live = first_row < " + std::to_string(layout_.program.rows) + ";\n  const " +
              index + " row = live ? first_row : 0;\n";
    }
    text += layout_.indices.declare_kept("  ");
    if (all) {
      text += "  constexpr " + index + " begin = 0, end = " + std::to_string(layout_.program.row_length) +
              ";\n";
    } else {
      text += "  const " + index + " begin = split * " + std::to_string(layout_.split_length()) + ";\n";
      text += "  const " + index + " end = begin + " + std::to_string(layout_.split_length()) + " < " +
              std::to_string(layout_.program.row_length) + " ? begin + " + std::to_string(layout_.split_length()) +
              " : " + std::to_string(layout_.program.row_length) + ";\n";
    }
    return text;
  }

  /// Text that computes the row values known before `pass` and, if `store`, stores the row outputs.
  std::string row_scope(int pass, bool store) {
    std::string text;
    for (const std::string &value : layout_.passes.row_values) {
      if (layout_.program.values.at(value).pass != pass)
        continue;
      text += "  " + layout_.compute_type(value) + " r_" + value + "[" +
              std::to_string(layout_.indices.width()) + "];\n";
      for (int lane = 0; lane < layout_.indices.width(); ++lane) {
        elements::ElementWriter writer(layout_.graph, layout_.region);
        layout_.bind_rows(writer, pass, lane);
        std::string before;
        const std::string result = writer.load(
            value, layout_.indices.row(layout_.graph.node(value).type().shape, lane), before);
        text +=
            "  {\n" + before + "  r_" + value + "[" + std::to_string(lane) + "] = " + result + ";\n  }\n";
      }
      layout_.known_rows.insert(value);
    }
    if (!store)
      return text;
    std::string stores;
    for (const RowOutput &output : layout_.program.outputs)
      if (output.value.kind == RowValue::Kind::Row && output.value.pass == pass)
        for (int lane = 0; lane < layout_.indices.width(); ++lane)
          stores += "    " + store_row(output, lane) + "\n";
    if (!stores.empty())
      text += std::string("  if (live && part == 0") +
              (layout_.shape.splits > 1 ? " && split == 0" : "") + ") {\n" + stores + "  }\n";
    return text;
  }

  std::string store_row(const RowOutput &output, int lane) const {
    return layout_.element_of(
               output, layout_.indices.row(layout_.graph.node(output.node).type().shape, lane)) +
           " = " +
           ops::to_memory("r_" + output.node + "[" + std::to_string(lane) + "]",
                          layout_.graph.node(output.node).type().dtype) +
           ";";
  }

  std::string reduce(int pass) const {
    const std::string name = layout_.struct_name(pass), state = "state" + std::to_string(pass);
    std::string text;
    if (layout_.inner) {
      text += "  __shared__ " + name + " scratch" + std::to_string(pass) + "[" +
              std::to_string(layout_.scratch_size()) + "];\n";
      if (layout_.shape.gang > 1)
        text += "  " + state + "[0] = warpwright_rows::reduce_gang<" +
                std::to_string(layout_.shape.threads) + ", " + std::to_string(layout_.shape.gang) + ">(" + state +
                "[0], scratch" + std::to_string(pass) + ", partials" + std::to_string(pass) + " + row * " +
                std::to_string(layout_.shape.gang) + ", rank, counters + " +
                std::to_string(pass * layout_.program.rows) + " + row);\n";
      else
        text += "  " + state + "[0] = warpwright_rows::" +
                (layout_.shape.cluster > 1 ? "reduce_cluster<" + std::to_string(layout_.shape.threads) +
                                                 ", " + std::to_string(layout_.shape.cluster)
                                           : "reduce_neighbours<" + std::to_string(layout_.shape.group) +
                                                 ", " + std::to_string(layout_.shape.threads)) +
                ">(" + state + "[0], scratch" + std::to_string(pass) + ");\n";
    } else {
      text += "  __shared__ " + name + " scratch" + std::to_string(pass) + "[" +
              std::to_string(layout_.scratch_size()) + "];\n";
      text += "  warpwright_rows::reduce_columns<" + std::to_string(layout_.shape.group) + ", " +
              std::to_string(layout_.lanes()) + ">(" + state + ", scratch" + std::to_string(pass) + ");\n";
    }
    for (const std::size_t i : layout_.plan(pass).reductions) {
      const RowReduction &reduction = layout_.program.reductions[i];
      const std::string type = layout_.compute_type(reduction.node);
      text += "  " + type + " r_" + reduction.node + "[" + std::to_string(layout_.indices.width()) + "];\n";
      for (int lane = 0; lane < layout_.indices.width(); ++lane) {
        std::string result = layout_.states.of(i).result;
        result.replace(result.find('$'), 1,
                       state + "[" + std::to_string(lane) + "]." + layout_.states.of(i).field);
        text += "  r_" + reduction.node + "[" + std::to_string(lane) + "] = static_cast<" + type + ">(" +
                result + ");\n";
      }
    }
    return text;
  }

  std::string merge_partials(int pass) {
    if (!layout_.has_reductions(pass))
      return "";
    std::string text = layout_.declare_state(pass);
    text += "  if (live)\n    for (int other = part; other < " + std::to_string(layout_.shape.splits) +
            "; other += " + std::to_string(layout_.shape.group) + ") {\n";
    for (int lane = 0; lane < layout_.indices.width(); ++lane)
      text += "      state" + std::to_string(pass) + "[" + std::to_string(lane) + "].merge(partials" +
              std::to_string(pass) + "[static_cast<" + layout_.indices.type() + ">(other) * " +
              std::to_string(layout_.program.rows) + " + row + " + std::to_string(lane) + "]);\n";
    return text + "    }\n" + reduce(pass);
  }

  std::string store_partials(int pass) const {
    std::string text = "  if (live && part == 0) {\n";
    for (int lane = 0; lane < layout_.indices.width(); ++lane)
      text += "    partials" + std::to_string(pass) + "[split * " + std::to_string(layout_.program.rows) +
              " + row + " + std::to_string(lane) + "] = state" + std::to_string(pass) + "[" + std::to_string(lane) + "];\n";
    return text + "  }\n";
  }

  RowLayout layout_;
};

} // namespace

Result<elements::Lowering> write_row_kernels(const RowProgram &program, const RowShape &shape,
                                             const std::string &prefix) {
  return RowKernelWriter(program, shape, prefix).write();
}

} // namespace warpwright::families::rows
