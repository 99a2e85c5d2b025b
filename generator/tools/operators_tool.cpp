// warpwright-operators: prints the table of operators as JSON. `ninja update_operators` writes it to where the tracer reads it.
#include "generator/ops/describe.h"

#include <iostream>

int main() { std::cout << warpwright::generator::operators_json(); }
