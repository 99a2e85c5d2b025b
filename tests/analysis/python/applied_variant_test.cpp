// Variants go into a file and come out of it again.
#include "analysis/python/applied_variant.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::analysis;

namespace {

const std::string kText =
    "import torch\n\n\n# warpwright: inputs x=float32[4]\nclass Model(torch.nn.Module):\n"
    "    def __init__(self):\n        super().__init__()\n\n"
    "    @torch.no_grad()\n    def forward(self, x):\n        return x + 1\n";

Variant variant(const std::string &plan = "0123") {
  return {"Model", plan, "import warpwright\n@warpwright.plans(\"a.wwplan\")\n",
          "class ModelNew(Model):\n    pass\n"};
}

} // namespace

TEST_CASE("an appended variant stands at the end, is found, replaced and taken out") {
  const auto once = with_variant_appended(kText, variant());
  REQUIRE(once);
  CHECK(once->starts_with(kText + "\n\n# >>> warpwright Model, plan 0123 >>>\n"));
  CHECK(once->ends_with("class ModelNew(Model):\n    pass\n# <<< warpwright Model <<<\n"));
  CHECK(applied_plan(*once, "Model") == "0123");
  CHECK(applied_plan(*once, "Other").empty());
  CHECK(applied_variant(*once, "Model") == variant().decorator + variant().subclass);
  CHECK(as_written(*once) == kText);
  const auto again = with_variant_appended(*once, variant("4567"));
  REQUIRE(again);
  CHECK(applied_plan(*again, "Model") == "4567");
  CHECK(again->find("0123") == std::string::npos);
  const auto found = appended_variant(*again, "Model");
  REQUIRE(found);
  CHECK(found->decorator == variant().decorator);
  CHECK(found->subclass == variant().subclass);
}

TEST_CASE("a variant stands before what runs the file as a program") {
  const std::string text = kText + "\n\nif __name__ == '__main__':\n    print(Model())\n";
  const auto made = with_variant_appended(text, variant());
  REQUIRE(made);
  CHECK(made->find("ModelNew") < made->find("if __name__"));
  CHECK(as_written(*made) == text);
}

TEST_CASE("a variant in place decorates the user's class, and goes again") {
  const auto made = with_variant_in_place(kText, variant());
  REQUIRE(made);
  CHECK(*made == "import torch\n\n\n# >>> warpwright Model, plan 0123 >>>\nimport warpwright\n"
                 "@warpwright.plans(\"a.wwplan\")\n# <<< warpwright Model <<<\n" +
                     kText.substr(kText.find("# warpwright: inputs")));
  CHECK(applied_plan(*made, "Model") == "0123");
  CHECK(as_written(*made) == kText);
  const auto again = with_variant_in_place(*made, variant("4567"));
  REQUIRE(again);
  CHECK(again->find("0123") == std::string::npos);
  CHECK(as_written(*again) == kText);
  const auto moved = with_variant_appended(*made, variant("89ab"));
  REQUIRE(moved);
  CHECK(as_written(*moved) == kText);
}

TEST_CASE("a class with decorators of its own gets one more above them") {
  const std::string text = "@register\nclass Model(Base):\n    pass\n";
  const auto made = with_variant_in_place(text, variant());
  REQUIRE(made);
  CHECK(made->ends_with("# <<< warpwright Model <<<\n" + text));
  CHECK(as_written(*made) == text);
}

TEST_CASE("files with DOS line ends keep a class and its comment together") {
  std::string text;
  for (const char c : kText)
    text += c == '\n' ? "\r\n" : std::string(1, c);
  const auto made = with_variant_in_place(text, variant());
  REQUIRE(made);
  CHECK(made->find("# warpwright: inputs x=float32[4]\r\nclass Model") != std::string::npos);
  CHECK(as_written(*made).find("# warpwright: inputs x=float32[4]\r\nclass Model") !=
        std::string::npos);
  CHECK(as_written(*made).find("def forward(self, x):\r\n") != std::string::npos);
}

TEST_CASE("a class that is not there cannot be changed in place") {
  CHECK_FALSE(with_variant_in_place("x = 1\n", variant()));
}
