# Precompiles the groups that nearly every file needs, so that the stub pass reads them in a millisecond instead of
# fifteen; sets WARPWRIGHT_STUB_PCH. Its flags are those of parse/stub_pass.cpp, which parses the texts where they differ.
find_program(WARPWRIGHT_CLANGXX NAMES clang++-22 REQUIRED)
set(WARPWRIGHT_STUB_PCH ${CMAKE_CURRENT_BINARY_DIR}/stub.pch)
set(stub_core cuda.h runtime.h device.h std.h)
set(stub_overlay "")
set(stub_includes "")
set(stub_sources "")
foreach(name ${stub_core})
  list(APPEND stub_overlay "{'name': '${name}', 'type': 'file', 'external-contents': '${CMAKE_CURRENT_LIST_DIR}/include/${name}'}")
  string(APPEND stub_includes " -include /.warpwright-stub/${name}")
  list(APPEND stub_sources ${CMAKE_CURRENT_LIST_DIR}/include/${name})
endforeach()
list(JOIN stub_overlay ", " stub_overlay)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/stub_overlay.yaml CONTENT
  "{'version': 0, 'use-external-names': false, 'roots': [{'name': '/.warpwright-stub', 'type': 'directory', 'contents': [${stub_overlay}]}]}\n")
add_custom_command(OUTPUT ${WARPWRIGHT_STUB_PCH}
  COMMAND sh -c "exec ${WARPWRIGHT_CLANGXX} -x cuda --cuda-host-only -nocudainc -nocudalib -nostdinc -nostdinc++ -w -std=c++17 \
-ferror-limit=0 --target=x86_64-pc-linux-gnu -fsyntax-only -ivfsoverlay ${CMAKE_CURRENT_BINARY_DIR}/stub_overlay.yaml \
${stub_includes} -Xclang -fno-pch-timestamp -Xclang -emit-pch -Xclang -o -Xclang ${WARPWRIGHT_STUB_PCH} - </dev/null"
  WORKING_DIRECTORY /
  DEPENDS ${stub_sources} ${CMAKE_CURRENT_BINARY_DIR}/stub_overlay.yaml
  VERBATIM)
