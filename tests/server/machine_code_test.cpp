// Source, PTX and machine code, line by line.
#include "server/features/machine_code.h"

#include <doctest/doctest.h>

using namespace warpwright::server::features;

namespace {

const nlohmann::json kListing = {
    {"source", "void scale() {\n  x[i] = 2;\n}\n"},
    {"ptx", ".entry scale\nmov.u32 %r1, 2;\nst.global.u32 [%rd1], %r1;\nret;\n"},
    {"nvrtc", "13.0"},
    {"kernels", {{{"name", "scale"}, {"rows", {{0, 2, 2}, {16, 3, 2}, {32, 4, 3}}}}}}};

} // namespace

TEST_CASE("each line of the source is followed by what comes from it") {
  nlohmann::json listing = kListing;
  listing["sass"] = ".text.scale:\n"
                    "        /*0000*/                   MOV R1, 0x2 ;\n"
                    "        /*0010*/                   STG.E [R2], R1 ;   /* 0x0000 */\n"
                    "                                                       /* 0x000fe2 */\n"
                    "        /*0020*/                   EXIT ;\n";
  CHECK(interleaved(machine_code_from_json(listing)) ==
        "   1 | void scale() {\n"
        "   2 |   x[i] = 2;\n"
        "     |     ptx 2  mov.u32 %r1, 2;\n"
        "     |     ptx 3  st.global.u32 [%rd1], %r1;\n"
        "     |     sass 0000  MOV R1, 0x2 ;\n"
        "     |     sass 0010  STG.E [R2], R1 ;\n"
        "   3 | }\n"
        "     |     ptx 4  ret;\n"
        "     |     sass 0020  EXIT ;\n");
}

TEST_CASE("without a disassembler there are the lines of PTX, and the reason") {
  nlohmann::json listing = kListing;
  listing["sass_missing"] = {{"message", "nvdisasm is not installed"}, {"remedy", ""}};
  const MachineCode code = machine_code_from_json(listing);
  CHECK(code.sass_missing == "nvdisasm is not installed");
  CHECK(interleaved(code).find("sass") == std::string::npos);
  CHECK(interleaved(code).find("ptx 4  ret;") != std::string::npos);
}
