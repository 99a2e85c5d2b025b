// gemm(bm, bn, bk, tm, tn): a recognised matrix product becomes the register-tiled GEMM template.
#include "generator/text/moves/move_kind.h"

#include "generator/text/lift/matmul.h"

namespace warpwright::generator {

namespace {

/// Measured on an H200 for n = 1024, 2048 and 4096: the large tiles win on large matrices, the small fill the
/// device on small ones.
constexpr GemmShape kShapes[] = {{128, 128, 8, 8, 8}, {128, 64, 16, 8, 4},  {256, 128, 8, 16, 8},
                                 {64, 64, 16, 8, 4},  {128, 128, 16, 8, 8}, {128, 256, 8, 8, 16},
                                 {64, 64, 16, 4, 4},  {128, 64, 16, 8, 8},  {32, 32, 16, 4, 4}};

} // namespace

Choices check_gemm(const KernelSource &source) {
  auto matmul = match_matmul(source);
  if (!matmul)
    return Choices::none(matmul.error().message);
  Choices legal;
  for (const GemmShape &shape : kShapes)
    legal.choices.push_back({{"bm", std::to_string(shape.m)},
                             {"bn", std::to_string(shape.n)},
                             {"bk", std::to_string(shape.k)},
                             {"tm", std::to_string(shape.thread_m)},
                             {"tn", std::to_string(shape.thread_n)}});
  return legal;
}

Result<Edits> apply_gemm(const KernelSource &source, const Parameters &parameters) {
  auto matmul = match_matmul(source);
  if (!matmul)
    return std::unexpected(matmul.error());
  const GemmShape shape{number(parameters, "bm"), number(parameters, "bn"),
                        number(parameters, "bk"), number(parameters, "tm"),
                        number(parameters, "tn")};
  auto edits = reshape_launches(
      source, [&](const clang::CUDAKernelCallExpr *launch) -> std::optional<ShapeTexts> {
        auto rows = at_launch(source, launch, matmul->rows),
             cols = at_launch(source, launch, matmul->cols);
        if (!rows || !cols)
          return std::nullopt;
        return ShapeTexts{{ceil_div_text(*cols, shape.n), ceil_div_text(*rows, shape.m), "1"},
                          {std::to_string(shape.threads()), "1", "1"}};
      });
  if (edits)
    edits->push_back(source.body_edit(render_gemm(matmul->task, shape, source.taken_names())));
  return edits;
}

} // namespace warpwright::generator
