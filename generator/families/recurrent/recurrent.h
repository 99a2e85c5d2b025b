// The family of recurrent layers (LSTM, GRU, RNN); see recurrent.cpp.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::recurrent {

extern const elements::Family kRecurrentFamily;

} // namespace warpwright::families::recurrent
