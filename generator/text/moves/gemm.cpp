// Move gemm(bm, bn, bk, tm, tn): replaces a matrix product by the register-tiled GEMM template.
#include "generator/text/moves/move_kind.h"

#include "generator/text/lift/launches.h"
#include "generator/text/lift/matmul.h"

namespace warpwright::moves {

Result<Offer> offer_gemm(const source::KernelSource &source) {
  // Measured on an H200 for n = 1024, 2048 and 4096: large tiles are faster on large matrices, and
  // small tiles fill the device on small matrices.
  static const auto choices = choice_table({"bm", "bn", "bk", "tm", "tn"}, {{128, 128, 8, 8, 8},
                                                                            {128, 64, 16, 8, 4},
                                                                            {256, 128, 8, 16, 8},
                                                                            {64, 64, 16, 8, 4},
                                                                            {128, 128, 16, 8, 8},
                                                                            {128, 256, 8, 8, 16},
                                                                            {64, 64, 16, 4, 4},
                                                                            {128, 64, 16, 8, 8},
                                                                            {32, 32, 16, 4, 4}});
  return offer_of(lift::match_matmul(source), choices,
                  [&source](const lift::Matmul &matmul, const Parameters &choice) {
                    const templates::GemmShape shape{number(choice, "bm"), number(choice, "bn"),
                                                     number(choice, "bk"), number(choice, "tm"),
                                                     number(choice, "tn")};
                    return lift::replace_by_tiles(
                        source, render_gemm(matmul.task, shape, source.taken_names()),
                        {matmul.rows, matmul.cols, shape.m, shape.n, shape.threads()});
                  });
}

} // namespace warpwright::moves
