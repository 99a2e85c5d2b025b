// Edits of a kernel as candidates: the task is the original's, the kernel and its launch the edit's.
#include "server/optimize/edited_kernel.h"

#include "server/source_hash.h"

#include <doctest/doctest.h>

using namespace warpwright;

namespace {

constexpr char kText[] = R"cu(
__global__ void scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = x[i] * 2.0f;
}
int main() {
  const int n = 1000;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  scale<<<(n + 255) / 256, 256>>>(x, n);
  return cudaDeviceSynchronize();
}
)cu";

std::string edited(const std::string &before, const std::string &after) {
  std::string text = kText;
  text.replace(text.find(before), before.size(), after);
  return text;
}

Result<runner::LedgerEntry> candidate_of(const std::string &text) {
  const analysis::SourceFile original{"/project/k.cu", kText};
  const analysis::FileFacts facts = analysis::analyze(original);
  REQUIRE(facts.kernels.size() == 1);
  REQUIRE(facts.kernels.front().task.inferred);
  return server::edited_kernel(original, {}, facts.kernels.front(), {"/project/k.cu", text}, {},
                               "agent");
}

} // namespace

TEST_CASE("an edit of a kernel and its launch becomes a plan for the original's task") {
  const auto entry = candidate_of(edited("x[i] * 2.0f", "x[i] + x[i]"));
  REQUIRE_MESSAGE(entry.has_value(), (entry ? "" : describe(entry.error())));
  CHECK(entry->plan.source.find("x[i] + x[i]") != std::string::npos);
  CHECK(entry->task.reference.source.find("x[i] * 2.0f") != std::string::npos);
  CHECK(entry->plan.moves.front().starts_with("rewrite(by=agent,"));
  CHECK(entry->proposed.by == "agent");
  CHECK(entry->proposed.not_applicable == "");
  CHECK(entry->source_hash == server::source_hash(entry->task.reference.source));
  const auto launch = candidate_of(edited("(n + 255) / 256, 256", "(n + 127) / 128, 128"));
  REQUIRE_MESSAGE(launch.has_value(), (launch ? "" : describe(launch.error())));
  CHECK(std::get<model::LaunchStep>(launch->plan.steps.front()).block[0].evaluate({}) == 128);
}

TEST_CASE("sizes and comments of an edit do not change the task") {
  const auto sizes = candidate_of(edited("n = 1000", "n = 1"));
  REQUIRE(!sizes.has_value()); // the kernel and its launch are the same
  CHECK(sizes.error().message.find("those of the original") != std::string::npos);
  std::string text = edited("x[i] * 2.0f", "x[i] * 3.0f");
  text.insert(text.find("__global__"), "// warpwright: n = 1, tolerance 100\n");
  const auto comment = candidate_of(text);
  REQUIRE_MESSAGE(comment.has_value(), (comment ? "" : describe(comment.error())));
  CHECK(comment->task.sizes.at("n") == 1000);
  CHECK(comment->task.tolerance.absolute < 1);
}

TEST_CASE("an edit without the kernel or its launch is refused with the reason") {
  const auto renamed = candidate_of(edited("void scale", "void other"));
  REQUIRE(!renamed.has_value());
  CHECK(renamed.error().message.find("no kernel scale") != std::string::npos);
  const auto unlaunched = candidate_of(edited("scale<<<(n + 255) / 256, 256>>>(x, n);", ""));
  REQUIRE(!unlaunched.has_value());
  CHECK(unlaunched.error().message.find("the edited text cannot be judged") == 0);
}
