#include "analysis/python/module_facts.h"
#include "analysis/python/project_imports.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::analysis;

namespace {

using Files = std::map<std::string, std::string>;

ProjectDisk disk_of(const Files &files) {
  return {[files](const std::string &path) {
            const auto below = files.lower_bound(path + "/");
            return files.contains(path) ||
                   (below != files.end() && below->first.starts_with(path + "/"));
          },
          [files](const std::string &path) {
            const auto found = files.find(path);
            return found == files.end() ? std::nullopt : std::optional(found->second);
          }};
}

/// "pkg/model.py: pkg/layers.py, pkg/math/gates.py".
std::string imports_of(const std::string &path, const std::string &text, const Files &files) {
  const auto found = project_imports(path, text, disk_of(files));
  if (!found)
    return "error: " + found.error().message;
  std::string result = found->path + ":";
  for (const auto &[file, content] : found->files)
    result += " " + file;
  return result;
}

} // namespace

TEST_CASE("files beside the module come with it, and what they import, installed packages do not") {
  CHECK(imports_of("/p/model.py",
                   "import torch\nimport numpy as np\nfrom layers import Norm as N\n"
                   "def late():\n  import helpers.gates as g, other\n",
                   {{"/p/layers.py", "import math\nfrom common import eps"},
                    {"/p/common.py", ""},
                    {"/p/helpers/gates.py", ""},
                    {"/p/helpers/unused.py", ""},
                    {"/p/unused.py", ""}}) == "model.py: common.py helpers/gates.py layers.py");
  CHECK(imports_of("/p/model.py", "import torch", {{"/p/layers.py", ""}}) == ":");
  CHECK(imports_of("untitled:1", "import layers", {{"/p/layers.py", ""}}) == ":");
}

TEST_CASE("relative imports start at the file's own package, which stands in a folder above") {
  const Files files = {{"/p/net/__init__.py", ""},
                       {"/p/net/parts/__init__.py", "from . import gates"},
                       {"/p/net/parts/gates.py", "from ..base import Base"},
                       {"/p/net/base.py", ""},
                       {"/p/net/big/model.py", ""}};
  CHECK(imports_of("/p/net/big/model.py", "from ..parts.gates import Gate\n", files) ==
        "net/big/model.py: net/__init__.py net/base.py net/parts/__init__.py net/parts/gates.py");
  CHECK(imports_of("/p/net/model.py", "from .base import (Base,\n  Other)\n", files) ==
        "net/model.py: net/__init__.py net/base.py");
  CHECK(imports_of("/p/net/model.py", "from . import base, missing\n", files) ==
        "net/model.py: net/__init__.py net/base.py");
}

TEST_CASE("names are looked up from the file's folder to the project's root, and not above it") {
  const Files files = {{"/home/p/.git/HEAD", ""},
                       {"/home/p/net/layers.py", ""},
                       {"/home/p/net/models/model.py", ""},
                       {"/home/p/net/models/layers/__init__.py", ""},
                       {"/home/secret.py", ""}};
  CHECK(imports_of("/home/p/net/models/model.py", "import net.layers\nimport secret", files) ==
        "net/models/model.py: net/layers.py");
  CHECK(imports_of("/home/p/net/models/model.py", "from layers import Norm", files) ==
        "model.py: layers/__init__.py");
  // No mark of a project: nothing above the package is looked at.
  CHECK(imports_of("/home/q/a/model.py", "import tools", {{"/home/q/tools.py", ""}}) == ":");
}

TEST_CASE("files that import each other end, and a project that is too large is refused") {
  CHECK(imports_of("/p/a.py", "import b", {{"/p/a.py", "import b"}, {"/p/b.py", "import a, b"}}) ==
        "a.py: b.py");
  CHECK(imports_of("/p/a.py", "import b", {{"/p/b.py", std::string(3 << 20, '#')}})
            .starts_with("error: the module imports more than 200 files or 2 MiB"));
  Files many;
  std::string text;
  for (int i = 0; i < 201; ++i) {
    many["/p/m" + std::to_string(i) + ".py"] = "";
    text += "import m" + std::to_string(i) + "\n";
  }
  CHECK(imports_of("/p/a.py", text, many).starts_with("error: "));
}

TEST_CASE("a module's task holds the files, and its measurement is of them too") {
  const std::string text = "from layers import Norm\nfrom torch import nn\n"
                           "# warpwright: inputs x=float32[4, 8]\nclass Net(nn.Module):\n"
                           "  def __init__(self):\n    super().__init__()\n"
                           "  def forward(self, x):\n    return x\n";
  const auto facts = [&](const std::string &layers) {
    return module_facts("/p/model.py", text, disk_of({{"/p/layers.py", layers}}));
  };
  const FileFacts one = facts("class Norm: pass"), other = facts("class Norm: x = 1");
  REQUIRE(one.kernels.size() == 1);
  CHECK(one.kernels[0].task.task.module->files.at("layers.py") == "class Norm: pass");
  CHECK(one.kernels[0].task.task.module->path == "model.py");
  CHECK(one.kernels[0].slice != other.kernels.at(0).slice);
  const FileFacts large = facts(std::string(3 << 20, '#'));
  CHECK_FALSE(large.kernels.at(0).slice_error.empty());
  REQUIRE(large.diagnostics.size() == 1);
  CHECK(large.diagnostics[0].rule == "torch-imports");
}
