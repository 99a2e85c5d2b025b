// warpwright-operators: prints the table of operators as JSON. The build writes it to bin/torch/tracing/operators.json, where the tracer reads it.
#include "generator/ops/describe.h"

#include <iostream>

int main() { std::cout << warpwright::ops::operators_json(); }
