// How the code for one element uses the elements of arrays: which it reads and writes, and which of
// these accesses happen for every element.
#pragma once

#include "generator/text/source/index_form.h"

namespace warpwright::source {

struct ElementUse {
  enum class Role {
    Read,
    Write,  ///< the whole element, by `=`
    Update, ///< `+=`, `++`, or a part of the element
    Other   ///< its address is taken, a reference is bound to it, or a method is called
  };
  ElementAccess access;
  Role role = Role::Read;
  bool is_conditional = false; ///< the access may be left out, or comes more than once
};

/// The uses of all elements that IndexReader::access() can read, in the order of the text.
std::vector<ElementUse> element_uses(const IndexReader &form, const std::vector<const clang::Stmt *> &statements);

/// True if the kernel uses the array of a parameter only by accesses to its elements, directly or by
/// local pointers that are set once.
bool is_only_accessed(const IndexReader &form, const clang::ParmVarDecl *parameter);

} // namespace warpwright::source
