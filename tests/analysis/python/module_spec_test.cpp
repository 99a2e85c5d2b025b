// The comment's words become Python expressions, or a sentence that says what is wrong.
#include "analysis/python/module_spec.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::analysis;

namespace {

const std::string kClass = "class M(nn.Module):\n"
                           "    def __init__(self, width, *, heads=8):\n        pass\n"
                           "    def forward(self, x, index, scale=1.0):\n        return x\n";

Result<ModuleSpec> read(const std::string &comment, const std::string &text = kClass) {
  const auto file = parse_python(text);
  REQUIRE(file);
  REQUIRE(file->classes.size() == 1);
  return read_module_spec(comment, file->classes.front());
}

void check(const std::string &comment, const std::string &inputs, const std::string &init) {
  const auto spec = read(comment);
  REQUIRE_MESSAGE(spec.has_value(), (spec ? "" : describe(spec.error())));
  CHECK(spec->inputs == inputs);
  CHECK(spec->init_inputs == init);
}

void check_refused(const std::string &comment, const std::string &words) {
  const auto spec = read(comment);
  REQUIRE_FALSE(spec.has_value());
  CHECK_MESSAGE(describe(spec.error()).find(words) != std::string::npos, describe(spec.error()));
}

} // namespace

TEST_CASE("tensors by dtype and shape, in forward's order whatever the comment's") {
  check("inputs index=int64[16] integers 0..width, x=float32[16, 128]; init 128",
        "[torch.randn((16, 128,)), torch.randint(0, width, (16,), dtype=torch.int64)]", "[128]");
  check("inputs float16[batch, 4] uniform, bool[4]; init (128)",
        "[torch.rand((batch, 4,)).to(torch.float16), (torch.rand((4,)) < 0.5)]", "[128]");
  check("inputs x=float32[], index=zeros(3); init 1", "[torch.randn(()), zeros(3)]", "[1]");
}

TEST_CASE("arguments of the constructor by name become a dictionary, with positions named") {
  check("inputs x=f(1, a=2), index=g; init 128, heads=4", "[f(1, a=2), g]",
        "dict(width=128, heads=4)");
  check("inputs x=f, index='a, b'; init width=(1, 2)", "[f, 'a, b']", "dict(width=(1, 2))");
}

TEST_CASE("what is missing or wrong is named") {
  check_refused("inputs x=float32[16]; init 1", "index");
  check_refused("inputs x=float32[16], index=int64[16]; init 1", "range");
  check_refused("inputs x=float32[16], index=int64[16] integers 3; init 1", "range");
  check_refused("inputs x=float32[16] gauss, index=f; init 1", "no distribution");
  check_refused("inputs x=float32, index=f; init 1", "no shape");
  check_refused("inputs x=float32[?], index=f; init 1", "not filled in");
  check_refused("inputs x=f, index=f", "width");
  check_refused("inputs x=f, index=f, wrong=f; init 1", "no parameter wrong");
  check_refused("inputs a, b, c, d; init 1", "takes 3");
  check_refused("inputs x=f(, index=f; init 1", "not closed");
  check_refused("input x=f", "not understood");
  check_refused("eval", "no inputs");
}

TEST_CASE("a comment of several lines, with or without its mark, ends above the class") {
  const std::string text =
      "# other\n# warpwright: inputs x=float32[2],\n#   index=f\n# warpwright: init 3\n" + kClass;
  const auto file = parse_python(text);
  REQUIRE(file);
  Range range;
  const auto spec = spec_above(*file, text, file->classes.front().line, range);
  REQUIRE(spec);
  CHECK(*spec == "inputs x=float32[2], index=f;init 3");
  CHECK(text.substr(range.begin, 13) == "# warpwright:");
  CHECK_FALSE(spec_above(*file, text, 1, range));
}
