// The text of row kernels; see row_kernel.h.
#include "generator/families/row_kernel.h"

#include "generator/families/row_accumulators.h"
#include "generator/fusion/scalar_ops.h"

#include <algorithm>
#include <functional>
#include <set>

namespace warpwright::generator {
namespace {

using Kind = RowReduction::Kind;

std::string number(std::int64_t value) { return std::to_string(value); }

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

class RowKernelWriter {
public:
  RowKernelWriter(const RowProgram &program, const RowShape &shape, std::string prefix)
      : program_(program), graph_(program.expanded.graph), region_(program.expanded.region),
        shape_(shape), passes_(plan_passes(program, graph_, shape.hold)), indices_(program, shape),
        prefix_(std::move(prefix)) {
    inner_ = program.reduces_inner();
    for (const RowReduction &reduction : program.reductions)
      accumulators_.push_back(accumulator(reduction));
  }

  Result<Lowering> write() {
    if (auto checked = check(); !checked)
      return std::unexpected(checked.error());
    Lowering result;
    result.source = row_prelude();
    if (shape_.cluster > 1)
      result.source += row_cluster_prelude();
    if (shape_.gang > 1)
      result.source += row_gang_prelude();
    for (int pass = 0; pass < program_.passes; ++pass)
      result.source += accumulator_struct(pass);
    if (shape_.gang > 1) {
      result.temporaries.push_back(
          {counters(), model::Dtype::Int32, Expression(1 + program_.passes * program_.rows)});
      result.steps.push_back(model::FillStep{counters(), 0});
      for (int pass = 0; pass < program_.passes; ++pass)
        if (has_reductions(pass))
          result.temporaries.push_back({partials(pass), model::Dtype::Float64,
                                        Expression(program_.rows * shape_.gang * words(pass))});
    }
    if (shape_.splits == 1) {
      result.source += kernel("rows", 0, program_.passes, true);
      result.steps.push_back(launch("rows", 1));
      return result;
    }
    for (int pass = 0; pass < program_.passes; ++pass) {
      const std::string name = "pass" + number(pass);
      result.source += kernel(name, pass, pass + 1, false);
      result.steps.push_back(launch(name, shape_.splits));
      if (has_reductions(pass))
        result.temporaries.push_back({partials(pass), model::Dtype::Float64,
                                      Expression(program_.rows * shape_.splits * words(pass))});
    }
    if (has_row_outputs(program_.passes)) {
      result.source += kernel("finish", program_.passes, program_.passes, false);
      result.steps.push_back(launch("finish", 1));
    }
    return result;
  }

private:
  // What each reduction accumulates in.
  struct Accumulator {
    std::string type;   ///< "warpwright_rows::Sum<float>"; empty: shared with another
    std::string field;  ///< of the pass's struct
    std::string result; ///< an expression with "$" for the accumulator
    int words = 1;      ///< 8-byte words
  };

  std::string operand_type(const RowReduction &reduction) const {
    return compute_type_of(graph_.node(reduction.operand).type().dtype);
  }

  Accumulator accumulator(const RowReduction &reduction) const {
    const std::string result_type = compute_type_of(graph_.node(reduction.node).type().dtype);
    const std::string operand = operand_type(reduction);
    std::string field = "a_" + reduction.node;
    const auto fold = [&](const std::string &name, const std::string &type) {
      return Accumulator{"warpwright_rows::" + name + "<" + type + ">", field, "$.value", 1};
    };
    switch (reduction.kind) {
    case Kind::Sum:
      return fold("Sum", result_type);
    case Kind::Mean: {
      if (const RowReduction *variance = companion(reduction, Kind::Variance))
        return {"", "a_" + variance->node, "$.mean", 0};
      Accumulator mean = fold("Sum", result_type);
      mean.result = "($.value / " + result_type + "(" + number(program_.row_length) + "))";
      return mean;
    }
    case Kind::Maximum:
      for (const RowReduction &other : program_.reductions)
        if (other.maximum == reduction.node)
          return {"", "a_" + other.node, "$.maximum", 0};
      return fold("Maximum", operand);
    case Kind::Minimum:
      return fold("Minimum", operand);
    case Kind::Product:
      return fold("Product", result_type);
    case Kind::Any:
      return fold("Any", "bool");
    case Kind::All:
      return fold("All", "bool");
    case Kind::Variance: {
      const std::string divisor = number(static_cast<std::int64_t>(
          std::max(0.0, static_cast<double>(program_.row_length) - reduction.correction)));
      return {"warpwright_rows::Moments<" + result_type + ">", field,
              "($.squares / " + result_type + "(" + divisor + "))", 3};
    }
    case Kind::ArgMaximum:
    case Kind::ArgMinimum:
      return {"warpwright_rows::Position<" + operand +
                  (reduction.kind == Kind::ArgMaximum ? ", true>" : ", false>"),
              field, "$.index", 2};
    case Kind::ExponentialSum:
      return {"warpwright_rows::ExponentialSum<" + operand +
                  (reduction.guarded ? ", true>" : ", false>"),
              field, "$.sum", 2};
    }
    return {};
  }

  const RowReduction *companion(const RowReduction &of, Kind kind) const {
    for (const RowReduction &other : program_.reductions)
      if (other.kind == kind && other.operand == of.operand && other.pass == of.pass)
        return &other;
    return nullptr;
  }

  const RowPass &plan(int pass) const { return passes_.passes[static_cast<std::size_t>(pass)]; }
  bool has_reductions(int pass) const { return !plan(pass).reductions.empty(); }
  bool has_row_outputs(int pass) const {
    return std::ranges::any_of(program_.outputs, [&](const RowOutput &output) {
      return output.value.kind == RowValue::Kind::Row && output.value.pass == pass;
    });
  }
  int words(int pass) const {
    int total = 0;
    for (const std::size_t i : plan(pass).reductions)
      total += accumulators_[i].words;
    return total;
  }
  std::string struct_name(int pass) const { return prefix_ + "_pass" + number(pass) + "_state"; }
  std::string partials(int pass) const { return prefix_ + "_partials" + number(pass); }
  std::string counters() const { return prefix_ + "_counters"; }
  std::string flags() const { return inner_ ? number(shape_.vector) : "1"; }
  /// Elements of one row that a thread takes in one chunk.
  std::int64_t values_a_chunk() const { return shape_.unroll * (inner_ ? shape_.vector : 1); }
  std::int64_t vectors_a_row() const {
    return inner_ ? program_.row_length / shape_.vector : program_.row_length;
  }
  /// Vectors that a chunk of all threads of a group covers, in steps of r.
  std::int64_t chunk() const {
    return std::int64_t{shape_.group} * shape_.unroll * (inner_ ? shape_.vector : 1);
  }
  std::int64_t split_length() const {
    const std::int64_t step = inner_ ? shape_.vector : 1;
    const std::int64_t length = ceil_divide(program_.row_length, shape_.splits);
    return ceil_divide(length, step) * step;
  }
  int lanes() const { return std::max(1, shape_.threads / shape_.group); }
  int rows_a_block() const { return lanes() * (inner_ ? 1 : shape_.vector); }
  /// The last pass that reduces.
  int last_reduction() const {
    int last = 0;
    for (const RowReduction &reduction : program_.reductions)
      last = std::max(last, reduction.pass);
    return last;
  }

  Result<void> check() const {
    const std::int64_t innermost = program_.groups.back().size;
    if (innermost % shape_.vector != 0)
      return fail("vectors of " + number(shape_.vector) + " do not divide " + number(innermost));
    if (shape_.gang > 1) {
      if (!inner_ || shape_.splits > 1 || shape_.cluster > 1 || !shape_.hold ||
          shape_.group != shape_.threads * shape_.gang)
        return fail("gangs of " + number(shape_.gang) + " blocks do not fit the group");
    } else if (shape_.cluster > 1) {
      if (!inner_ || shape_.splits > 1 || shape_.group != shape_.threads * shape_.cluster)
        return fail("clusters of " + number(shape_.cluster) + " blocks do not fit the group");
    } else if (shape_.threads % shape_.group != 0 || (!inner_ && shape_.threads % 32 != 0))
      return fail("groups of " + number(shape_.group) + " do not divide the block");
    if (shape_.hold && (shape_.splits > 1 || chunk() < program_.row_length))
      return fail("a row does not fit into the registers of its group");
    std::int64_t shared = 0;
    for (int pass = 0; pass < program_.passes; ++pass)
      shared += std::int64_t{8} * words(pass) * scratch_size();
    if (shared > 48 * 1024)
      return fail("the partial results of a block take " + number(shared) + " bytes");
    return {};
  }

  std::int64_t scratch_size() const {
    if (inner_)
      return shape_.group > 32 ? shape_.threads / 32 + (shape_.cluster > 1) : 1;
    return shape_.group > 1 ? std::int64_t{shape_.threads} * shape_.vector : 1;
  }

  /// One struct of all accumulators of a pass.
  std::string accumulator_struct(int pass) const {
    if (!has_reductions(pass))
      return "";
    const std::string name = struct_name(pass);
    std::string fields, starts, merges, shuffles;
    for (const std::size_t i : plan(pass).reductions) {
      const Accumulator &a = accumulators_[i];
      if (a.type.empty())
        continue;
      fields += "  alignas(8) " + a.type + " " + a.field + ";\n";
      starts += (starts.empty() ? "" : ", ") + a.type + "::identity()";
      merges += "    " + a.field + ".merge(other." + a.field + ");\n";
      shuffles += (shuffles.empty() ? "" : ", ") + a.field + ".shuffled(mask)";
    }
    return "struct " + name + " {\n" + fields + "  static __device__ __forceinline__ " + name +
           " identity() { return {" + starts +
           "}; }\n  __device__ __forceinline__ void merge(const " + name + " &other) {\n" + merges +
           "  }\n  __device__ __forceinline__ " + name + " shuffled(int mask) const { return {" +
           shuffles + "}; }\n};\n";
  }

  model::Step launch(const std::string &name, int splits) const {
    model::LaunchStep step;
    step.kernel = prefix_ + "_" + name;
    step.grid = {
        Expression(ceil_divide(program_.rows, rows_a_block()) * shape_.cluster * shape_.gang),
        Expression(splits), Expression(1)};
    step.block = {Expression(shape_.threads), Expression(1), Expression(1)};
    step.arguments = ElementWriter(graph_, region_).arguments();
    if (shape_.splits > 1 || shape_.gang > 1)
      for (int pass = 0; pass < program_.passes; ++pass)
        if (has_reductions(pass))
          step.arguments.push_back(model::BufferArgument{partials(pass), Expression(0)});
    if (shape_.gang > 1)
      step.arguments.push_back(model::BufferArgument{counters(), Expression(0)});
    return step;
  }

  /// A kernel that does passes [first, last), after merging partial results of the passes before.
  std::string kernel(const std::string &name, int first, int last, bool all) {
    std::string parameters = ElementWriter(graph_, region_).parameters();
    if (!all || shape_.gang > 1)
      for (int pass = 0; pass < program_.passes; ++pass)
        if (has_reductions(pass))
          parameters += ", " + struct_name(pass) + " *__restrict__ partials" + number(pass);
    if (shape_.gang > 1)
      parameters += ", unsigned *__restrict__ counters";
    const std::string cluster =
        shape_.cluster > 1 ? "__cluster_dims__(" + number(shape_.cluster) + ", 1, 1) " : "";
    std::string text = "extern \"C\" __global__ void " + cluster + "__launch_bounds__(" +
                       number(shape_.threads) + ") " + prefix_ + "_" + name + "(" + parameters +
                       ") {\n";
    text += header(all, !all && first % 2 == 1);
    if (shape_.hold)
      for (const std::string &value : passes_.held)
        text += "  " + compute_type(value) + " h_" + value + "[" + number(shape_.unroll) + "][" +
                number(shape_.vector) + "];\n";
    text += row_scope(0, all || first == 0);
    for (int pass = 0; pass < first; ++pass) {
      text += merge_partials(pass);
      text += row_scope(pass + 1, first == pass + 1);
    }
    for (int pass = first; pass < last; ++pass) {
      text += pass_text(pass);
      if (!has_reductions(pass))
        continue;
      text += reduce(pass);
      if (shape_.cluster > 1 && pass == last_reduction())
        text += "  warpwright_rows::cluster_arrive();\n";
      text += all ? row_scope(pass + 1, true) : store_partials(pass);
    }
    if (shape_.cluster > 1)
      text += "  warpwright_rows::cluster_wait();\n";
    return text + "}\n";
  }

  /// @param backwards blocks take the rows from the end, where the pass before left what it read last in the cache
  std::string header(bool all, bool backwards) const {
    const std::string index = indices_.type();
    const std::string thread = "static_cast<int>(threadIdx.x)";
    std::string text = "  const " + index + " block = static_cast<" + index + ">(" +
                       (shape_.gang > 1 ? "warpwright_rows::start_number(counters));\n"
                        : backwards     ? "gridDim.x - 1 - blockIdx.x);\n"
                                        : "blockIdx.x);\n");
    if (shape_.splits > 1)
      text += "  const " + index + " split = static_cast<" + index + ">(" +
              (backwards ? "gridDim.y - 1 - " : "") + "blockIdx.y);\n";
    if (shape_.gang > 1) {
      text += "  const int rank = static_cast<int>(block % " + number(shape_.gang) + ");\n";
      text += "  const int part = rank * " + number(shape_.threads) + " + " + thread + ";\n";
      text += "  const " + index + " first_row = block / " + number(shape_.gang) + ";\n";
    } else if (shape_.cluster > 1) {
      text += "  const int part = static_cast<int>(warpwright_rows::cluster_rank()) * " +
              number(shape_.threads) + " + " + thread + ";\n";
      text += "  const " + index + " first_row = block / " + number(shape_.cluster) + ";\n";
    } else if (inner_) {
      text += "  const int part = " + thread + " % " + number(shape_.group) + ";\n";
      text += "  const " + index + " first_row = block * " + number(lanes()) + " + " + thread +
              " / " + number(shape_.group) + ";\n";
    } else {
      text += "  const int part = " + thread + " / " + number(lanes()) + ";\n";
      text += "  const " + index + " first_row = (block * " + number(lanes()) + " + " + thread +
              " % " + number(lanes()) + ") * " + number(shape_.vector) + ";\n";
    }
    if (program_.rows % rows_a_block() == 0) {
      text += "  constexpr bool live = true;\n  const " + index + " row = first_row;\n";
    } else {
      text += "  const bool live = first_row < " + number(program_.rows) + ";\n  const " + index +
              " row = live ? first_row : 0;\n";
    }
    text += indices_.declare_kept("  ");
    if (all) {
      text += "  constexpr " + index + " begin = 0, end = " + number(program_.row_length) + ";\n";
    } else {
      text += "  const " + index + " begin = split * " + number(split_length()) + ";\n";
      text += "  const " + index + " end = begin + " + number(split_length()) + " < " +
              number(program_.row_length) + " ? begin + " + number(split_length()) + " : " +
              number(program_.row_length) + ";\n";
    }
    return text;
  }

  std::string compute_type(const std::string &value) const {
    return compute_type_of(graph_.node(value).type().dtype);
  }

  /// What every scope knows: reductions and row values of passes before `pass`.
  /// @param lane of the thread's rows; nullopt: all of them, as lanes
  void bind_rows(ElementWriter &writer, int pass, std::optional<int> lane) const {
    indices_.bound(writer);
    const auto bind = [&](const std::string &value) {
      const std::string name = "r_" + value;
      std::vector<std::string> lanes;
      for (int i = 0; i < indices_.width(); ++i)
        lanes.push_back(name + "[" + number(i) + "]");
      if (lane)
        writer.bind(value, lanes[static_cast<std::size_t>(*lane)]);
      else
        writer.bind(value, lanes);
    };
    for (const RowReduction &reduction : program_.reductions)
      if (reduction.pass < pass)
        bind(reduction.node);
    for (const std::string &value : passes_.row_values)
      if (program_.values.at(value).pass <= pass && known_rows_.contains(value))
        bind(value);
  }

  /// Computes the row values that are known before `pass`, and stores those that go out.
  std::string row_scope(int pass, bool store) {
    std::string text;
    for (const std::string &value : passes_.row_values) {
      if (program_.values.at(value).pass != pass)
        continue;
      text += "  " + compute_type(value) + " r_" + value + "[" + number(indices_.width()) + "];\n";
      for (int lane = 0; lane < indices_.width(); ++lane) {
        ElementWriter writer(graph_, region_);
        bind_rows(writer, pass, lane);
        std::string before;
        const std::string result =
            writer.load(value, indices_.row(graph_.node(value).type().shape, lane), before);
        text +=
            "  {\n" + before + "  r_" + value + "[" + number(lane) + "] = " + result + ";\n  }\n";
      }
      known_rows_.insert(value);
    }
    if (!store)
      return text;
    std::string stores;
    for (const RowOutput &output : program_.outputs)
      if (output.value.kind == RowValue::Kind::Row && output.value.pass == pass)
        for (int lane = 0; lane < indices_.width(); ++lane)
          stores += "    " + store_row(output, lane) + "\n";
    if (!stores.empty())
      text += std::string("  if (live && part == 0") + (shape_.splits > 1 ? " && split == 0" : "") +
              ") {\n" + stores + "  }\n";
    return text;
  }

  std::string store_row(const RowOutput &output, int lane) const {
    return element_of(output, indices_.row(graph_.node(output.node).type().shape, lane)) + " = " +
           to_memory("r_" + output.node + "[" + number(lane) + "]",
                     graph_.node(output.node).type().dtype) +
           ";";
  }

  /// "out0[...]" by the strides of the output.
  std::string element_of(const RowOutput &output, const Index &index) const {
    const model::TensorType type = region_type(graph_, region_, output.node);
    const model::Shape strides = model::strides_of(type);
    std::string offset;
    for (std::size_t i = 0; i < index.size(); ++i) {
      if (type.shape[i] == 1)
        continue;
      offset += (offset.empty() ? "(" : " + (") + index[i] + ")";
      if (strides[i] != 1)
        offset += " * static_cast<" + indices_.type() + ">(" + number(strides[i]) + ")";
    }
    return "out" + number(static_cast<std::int64_t>(output.index)) + "[" +
           (offset.empty() ? "0" : offset) + "]";
  }

  std::string reduce(int pass) const {
    const std::string name = struct_name(pass), state = "state" + number(pass);
    std::string text;
    if (inner_) {
      text += "  __shared__ " + name + " scratch" + number(pass) + "[" + number(scratch_size()) +
              "];\n";
      if (shape_.gang > 1)
        text += "  " + state + "[0] = warpwright_rows::reduce_gang<" + number(shape_.threads) +
                ", " + number(shape_.gang) + ">(" + state + "[0], scratch" + number(pass) +
                ", partials" + number(pass) + " + row * " + number(shape_.gang) +
                ", rank, counters + " + number(1 + pass * program_.rows) + " + row);\n";
      else
        text +=
            "  " + state + "[0] = warpwright_rows::" +
            (shape_.cluster > 1
                 ? "reduce_cluster<" + number(shape_.threads) + ", " + number(shape_.cluster)
                 : "reduce_neighbours<" + number(shape_.group) + ", " + number(shape_.threads)) +
            ">(" + state + "[0], scratch" + number(pass) + ");\n";
    } else {
      text += "  __shared__ " + name + " scratch" + number(pass) + "[" + number(scratch_size()) +
              "];\n";
      text += "  warpwright_rows::reduce_columns<" + number(shape_.group) + ", " + number(lanes()) +
              ">(" + state + ", scratch" + number(pass) + ");\n";
    }
    for (const std::size_t i : plan(pass).reductions) {
      const RowReduction &reduction = program_.reductions[i];
      const std::string type = compute_type(reduction.node);
      text += "  " + type + " r_" + reduction.node + "[" + number(indices_.width()) + "];\n";
      for (int lane = 0; lane < indices_.width(); ++lane) {
        std::string result = accumulators_[i].result;
        result.replace(result.find('$'), 1,
                       state + "[" + number(lane) + "]." + accumulators_[i].field);
        text += "  r_" + reduction.node + "[" + number(lane) + "] = static_cast<" + type + ">(" +
                result + ");\n";
      }
    }
    return text;
  }

  std::string declare_state(int pass) const {
    const std::string state = "state" + number(pass);
    std::string text =
        "  " + struct_name(pass) + " " + state + "[" + number(indices_.width()) + "];\n";
    for (int lane = 0; lane < indices_.width(); ++lane)
      text += "  " + state + "[" + number(lane) + "] = " + struct_name(pass) + "::identity();\n";
    return text;
  }

  std::string merge_partials(int pass) {
    if (!has_reductions(pass))
      return "";
    std::string text = declare_state(pass);
    text += "  if (live)\n    for (int other = part; other < " + number(shape_.splits) +
            "; other += " + number(shape_.group) + ") {\n";
    for (int lane = 0; lane < indices_.width(); ++lane)
      text += "      state" + number(pass) + "[" + number(lane) + "].merge(partials" +
              number(pass) + "[static_cast<" + indices_.type() + ">(other) * " +
              number(program_.rows) + " + row + " + number(lane) + "]);\n";
    return text + "    }\n" + reduce(pass);
  }

  std::string store_partials(int pass) const {
    std::string text = "  if (live && part == 0) {\n";
    for (int lane = 0; lane < indices_.width(); ++lane)
      text += "    partials" + number(pass) + "[split * " + number(program_.rows) + " + row + " +
              number(lane) + "] = state" + number(pass) + "[" + number(lane) + "];\n";
    return text + "  }\n";
  }

  /// Loads, computes, accumulates and stores what one pass does.
  std::string pass_text(int pass) {
    const RowPass &now = plan(pass);
    if (now.reductions.empty() && now.outputs.empty())
      return "";
    const std::string unroll = number(shape_.unroll), vector = number(shape_.vector);
    std::string text;
    if (has_reductions(pass))
      text += declare_state(pass);
    const bool one_chunk = shape_.splits == 1 && chunk() >= program_.row_length;
    if (one_chunk)
      text += "  {\n  constexpr " + indices_.type() + " start = 0;\n";
    else if (pass % 2 == 1)
      text += "  for (" + indices_.type() + " start = begin + (end - begin - 1) / " +
              number(chunk()) + " * " + number(chunk()) +
              "; start >= begin; start -= " + number(chunk()) + ") {\n";
    else
      text += "  for (" + indices_.type() +
              " start = begin; start < end; start += " + number(chunk()) + ") {\n";
    text += "    bool valid[" + unroll + "];\n";
    for (const std::string &leaf : now.leaves)
      if (!is_held(leaf))
        text += "    " + compute_type(leaf) + " h_" + leaf + "[" + unroll + "][" + vector + "];\n";
    text += load_loop(now);
    for (const std::size_t i : now.reductions)
      if (!accumulators_[i].type.empty())
        text += "    " + operand_type(program_.reductions[i]) + " o_" +
                program_.reductions[i].node + "[" + number(indices_.width()) + "][" +
                number(values_a_chunk()) + "];\n";
    if (needs_positions(now))
      text += "    " + indices_.type() + " at[" + number(values_a_chunk()) + "];\n";
    text += compute_loop(pass);
    for (const std::size_t i : now.reductions)
      text += accumulate(i, pass);
    return text + "  }\n";
  }

  bool is_held(const std::string &value) const {
    return shape_.hold && std::ranges::find(passes_.held, value) != passes_.held.end();
  }
  bool needs_positions(const RowPass &now) const {
    return std::ranges::any_of(now.reductions, [&](std::size_t i) {
      return accumulators_[i].type.find("Position") != std::string::npos;
    });
  }

  std::string position() const {
    const std::string step = inner_ ? " * " + number(shape_.vector) : "";
    return "const " + indices_.type() + " r = start + (u * " + number(shape_.group) + " + part)" +
           step + ";\n";
  }
  /// Whether every thread's every vector lies in the row, so that nothing has to be asked.
  bool exact() const {
    const std::int64_t length = shape_.splits == 1 ? program_.row_length : split_length();
    return length % chunk() == 0 && length * shape_.splits == program_.row_length &&
           program_.rows % rows_a_block() == 0;
  }

  std::string load_loop(const RowPass &now) const {
    std::string text = "#pragma unroll\n    for (int u = 0; u < " + number(shape_.unroll) +
                       "; ++u) {\n      " + position();
    text += std::string("      valid[u] = ") + (exact() ? "true" : "live && r < end") + ";\n";
    if (!now.leaves.empty()) {
      text += "      if (valid[u]) {\n" + indices_.declare_reduced("        ");
      text += "        const " + indices_.type() + " offset = " + indices_.offset() + ";\n";
      for (const std::string &leaf : now.leaves)
        text += "        warpwright_rows::load<" + number(shape_.vector) + ">(in" +
                number(input_number(leaf)) + " + offset, h_" + leaf + "[u]);\n";
      text += "      }\n";
    }
    return text + "    }\n";
  }

  std::int64_t input_number(const std::string &name) const {
    return std::ranges::find(region_.inputs, name) - region_.inputs.begin();
  }

  std::string compute_loop(int pass) {
    const RowPass &now = plan(pass);
    std::string text = "#pragma unroll\n    for (int u = 0; u < " + number(shape_.unroll) +
                       "; ++u) {\n      if (valid[u]) {\n        " + position() +
                       indices_.declare_reduced("        ");
    for (const std::size_t i : now.outputs)
      text += "        " + compute_type(program_.outputs[i].node) + " y" + number(i) + "[" +
              number(shape_.vector) + "];\n";
    text += vector_text(pass);
    for (const std::size_t i : now.outputs)
      text += store_elements(program_.outputs[i], i);
    return text + "      }\n    }\n";
  }

  /// Computes what the pass gives for the elements of one vector.
  std::string vector_text(int pass) {
    const RowPass &now = plan(pass);
    ElementWriter writer(graph_, region_);
    bind_rows(writer, pass, std::nullopt);
    const auto held_lanes = [&](const std::string &value) {
      std::vector<std::string> lanes;
      for (int lane = 0; lane < shape_.vector; ++lane)
        lanes.push_back("h_" + value + "[u][" + number(lane) + "]");
      return lanes;
    };
    for (const auto *values : {&now.leaves, &now.reused})
      for (const std::string &value : *values)
        writer.bind(value, held_lanes(value));
    std::string text;
    const auto load = [&](const std::string &value) {
      std::vector<Index> lanes;
      for (int lane = 0; lane < shape_.vector; ++lane)
        lanes.push_back(indices_.element(graph_.node(value).type().shape, lane));
      return writer.load(value, lanes, text);
    };
    const auto assign = [&](const std::string &value, const std::function<std::string(int)> &to) {
      const std::vector<std::string> results = load(value);
      for (int lane = 0; lane < shape_.vector; ++lane)
        text += to(lane) + " = " + results[static_cast<std::size_t>(lane)] + ";\n";
    };
    for (const std::string &value : now.produced)
      assign(value, [&](int lane) { return held_lanes(value)[static_cast<std::size_t>(lane)]; });
    for (const std::size_t i : now.reductions)
      if (!accumulators_[i].type.empty())
        assign(program_.reductions[i].operand,
               [&](int lane) { return "o_" + program_.reductions[i].node + slot(lane); });
    if (needs_positions(now))
      for (int lane = 0; lane < (inner_ ? shape_.vector : 1); ++lane)
        text += (inner_ ? "at[u * " + number(shape_.vector) + " + " + number(lane) + "]"
                        : std::string("at[u]")) +
                " = r + " + number(lane) + ";\n";
    for (const std::size_t i : now.outputs)
      assign(program_.outputs[i].node, [&](int lane) {
        return "y" + number(static_cast<std::int64_t>(i)) + "[" + number(lane) + "]";
      });
    return text;
  }
  /// Where an operand's element lies in what the thread accumulates.
  std::string slot(int lane) const {
    return inner_ ? "[0][u * " + number(shape_.vector) + " + " + number(lane) + "]"
                  : "[" + number(lane) + "][u]";
  }

  std::string store_elements(const RowOutput &output, std::size_t i) const {
    const std::string name = "y" + number(static_cast<std::int64_t>(i));
    if (!region_.strides.contains(output.node))
      return "        warpwright_rows::store<" + number(shape_.vector) + ">(out" +
             number(static_cast<std::int64_t>(output.index)) + " + (" + indices_.offset() + "), " +
             name + ");\n";
    std::string text;
    const model::TensorType &type = graph_.node(output.node).type();
    for (int lane = 0; lane < shape_.vector; ++lane)
      text += "        " + element_of(output, indices_.element(type.shape, lane)) + " = " +
              to_memory(name + "[" + number(lane) + "]", type.dtype) + ";\n";
    return text;
  }

  std::string accumulate(std::size_t i, int pass) const {
    const Accumulator &a = accumulators_[i];
    if (a.type.empty())
      return "";
    const bool positions = a.type.find("Position") != std::string::npos;
    std::string text;
    for (int lane = 0; lane < indices_.width(); ++lane)
      text += "    state" + number(pass) + "[" + number(lane) + "]." + a.field + ".add<" + flags() +
              ">(o_" + program_.reductions[i].node + "[" + number(lane) + "], valid" +
              (positions ? ", at" : "") + ");\n";
    return text;
  }

  const RowProgram &program_;
  GraphIndex graph_;
  const Region &region_;
  const RowShape &shape_;
  RowPasses passes_;
  RowIndices indices_;
  std::string prefix_;
  bool inner_ = true;
  std::vector<Accumulator> accumulators_; ///< one for each reduction
  std::set<std::string> known_rows_;
};

} // namespace

Result<Lowering> write_row_kernels(const RowProgram &program, const RowShape &shape,
                                   const std::string &prefix) {
  return RowKernelWriter(program, shape, prefix).write();
}

} // namespace warpwright::generator
