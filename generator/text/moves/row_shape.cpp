// Choices and launches of the templates over rows; see row_shape.h.
#include "generator/text/moves/row_shape.h"

namespace warpwright::generator {

std::vector<Parameters> row_choices() {
  return {{{"threads", "128"}, {"row", "warp"}},
          {{"threads", "256"}, {"row", "block"}},
          {{"threads", "128"}, {"row", "block"}},
          {{"threads", "512"}, {"row", "block"}},
          {{"threads", "256"}, {"row", "warp"}}};
}

RowThreads row_shape(const Parameters &parameters) {
  const int threads = number(parameters, "threads");
  return {threads, parameters.at("row") == "warp" ? 32 : threads};
}

Result<Edits> launch_rows(const KernelSource &source, const Polynomial &rows,
                          const RowThreads &shape) {
  return reshape_launches(
      source, [&](const clang::CUDAKernelCallExpr *launch) -> std::optional<ShapeTexts> {
        auto count = at_launch(source, launch, rows);
        if (!count)
          return std::nullopt;
        const int rows_a_block = shape.threads / shape.threads_a_row;
        return ShapeTexts{
            {rows_a_block > 1 ? ceil_div_text(*count, rows_a_block) : *count, "1", "1"},
            {std::to_string(shape.threads), "1", "1"}};
      });
}

} // namespace warpwright::generator
