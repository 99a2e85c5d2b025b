# Target `tree_sitter_python`: Debian's static tree-sitter with the Python grammar from
# scripts/install-deps.sh. Without either there is no target, and warpwright reports for .py files
# that it was built without Python support.
set(WARPWRIGHT_PYTHON_GRAMMAR ${CMAKE_SOURCE_DIR}/build/dependencies/tree-sitter-python-0.23.6
    CACHE PATH "parser.c and scanner.c of tree-sitter-python, of a version whose ABI the installed tree-sitter takes")
find_library(WARPWRIGHT_TREE_SITTER NAMES libtree-sitter.a)
if(WARPWRIGHT_TREE_SITTER AND EXISTS ${WARPWRIGHT_PYTHON_GRAMMAR}/parser.c)
  add_library(tree_sitter_python STATIC ${WARPWRIGHT_PYTHON_GRAMMAR}/parser.c ${WARPWRIGHT_PYTHON_GRAMMAR}/scanner.c)
  target_include_directories(tree_sitter_python PRIVATE ${WARPWRIGHT_PYTHON_GRAMMAR})
  target_compile_options(tree_sitter_python PRIVATE -O1 -w)
  target_link_libraries(tree_sitter_python PUBLIC ${WARPWRIGHT_TREE_SITTER})
else()
  message(WARNING "Python files will not be read: run scripts/install-deps.sh, which brings tree-sitter and its grammar of Python")
endif()
