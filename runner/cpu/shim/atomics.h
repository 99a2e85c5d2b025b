// CUDA's atomic functions. The backend runs all threads of a launch on one CPU thread and switches
// only at barriers and warp operations, so a plain read and write is atomic. The overloads are
// exactly CUDA's, because sources define missing ones (atomicMax of float) themselves.
#pragma once

#define __WW_ATOMIC(name, type, expression)                                                        \
  __WW_FUNCTION type name(type *address, type value) {                                             \
    type old = *address;                                                                           \
    *address = (type)(expression);                                                                 \
    return old;                                                                                    \
  }                                                                                                \
  __WW_FUNCTION type name##_block(type *address, type value) { return name(address, value); }      \
  __WW_FUNCTION type name##_system(type *address, type value) { return name(address, value); }

#define __WW_ATOMIC_INTEGERS(name, expression)                                                     \
  __WW_ATOMIC(name, int, expression)                                                               \
  __WW_ATOMIC(name, unsigned, expression)                                                          \
  __WW_ATOMIC(name, unsigned long long, expression)
__WW_ATOMIC(atomicAdd, int, (unsigned)old + (unsigned)value)
__WW_ATOMIC(atomicAdd, unsigned, old + value)
__WW_ATOMIC(atomicAdd, unsigned long long, old + value)
__WW_ATOMIC(atomicAdd, float, old + value)
__WW_ATOMIC(atomicAdd, double, old + value)
__WW_ATOMIC(atomicSub, int, (unsigned)old - (unsigned)value)
__WW_ATOMIC(atomicSub, unsigned, old - value)
__WW_ATOMIC_INTEGERS(atomicExch, value)
__WW_ATOMIC(atomicExch, float, value)
__WW_ATOMIC_INTEGERS(atomicMin, value < old ? value : old)
__WW_ATOMIC_INTEGERS(atomicMax, value > old ? value : old)
__WW_ATOMIC(atomicMin, long long, value < old ? value : old)
__WW_ATOMIC(atomicMax, long long, value > old ? value : old)
__WW_ATOMIC_INTEGERS(atomicAnd, old & value)
__WW_ATOMIC_INTEGERS(atomicOr, old | value)
__WW_ATOMIC_INTEGERS(atomicXor, old ^ value)
__WW_ATOMIC(atomicInc, unsigned, old >= value ? 0u : old + 1u)
__WW_ATOMIC(atomicDec, unsigned, old == 0u || old > value ? value : old - 1u)
#undef __WW_ATOMIC_INTEGERS

#define __WW_ATOMIC_CAS(type)                                                                      \
  __WW_FUNCTION type atomicCAS(type *address, type compare, type value) {                          \
    type old = *address;                                                                           \
    if (old == compare)                                                                            \
      *address = value;                                                                            \
    return old;                                                                                    \
  }                                                                                                \
  __WW_FUNCTION type atomicCAS_block(type *a, type c, type v) { return atomicCAS(a, c, v); }       \
  __WW_FUNCTION type atomicCAS_system(type *a, type c, type v) { return atomicCAS(a, c, v); }
__WW_ATOMIC_CAS(int) __WW_ATOMIC_CAS(unsigned) __WW_ATOMIC_CAS(unsigned long long)
__WW_ATOMIC_CAS(unsigned short)
#undef __WW_ATOMIC_CAS

__WW_FUNCTION void __threadfence() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
__WW_FUNCTION void __threadfence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
__WW_FUNCTION void __threadfence_system() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
