"""Complex arithmetic as arithmetic with real and imaginary parts, operator by operator.

PyTorch's compilers run a separate kernel for each complex operator. Operators on parts fuse like
all others. The rules call real ATen operators by `emit`. A part is a tensor of the real dtype, a
number, or None for zero. A complex operand has two tensors.
"""

import torch

aten = torch.ops.aten
RULES = {}
REAL = {torch.complex32: torch.float16, torch.complex64: torch.float32, torch.complex128: torch.float64}


class Parts:
    def __init__(self, real, imaginary):
        self.real, self.imaginary = real, imaginary

    def each(self, function):
        return Parts(*(None if one is None else function(one) for one in (self.real, self.imaginary)))


def parts_of(value):
    """A value of an argument as Parts: real tensors and numbers have no imaginary part."""
    if isinstance(value, Parts):
        return value
    if isinstance(value, complex):
        return Parts(value.real or None, value.imag or None)
    return Parts(None if value == 0 and isinstance(value, (bool, int, float)) else value, None)


def is_number(value):
    return isinstance(value, (bool, int, float))


def rule(*names):
    """Registers a rule (emit, function, *args, **kwargs) -> Parts, a list of Parts, or NotImplemented."""
    def register(function):
        for name in names:
            RULES[name if "::" in name else "aten::" + name] = function
        return function

    return register


class Arithmetic:
    """Real operators that know zeros. None is zero."""

    def __init__(self, emit):
        self.emit = emit

    def add(self, a, b):
        if a is None or b is None:
            return b if a is None else a
        if is_number(a) and is_number(b):
            return a + b
        return self.emit(aten.add.Tensor, b, a) if is_number(a) else self.emit(aten.add.Tensor, a, b)

    def negative(self, a):
        return a if a is None else -a if is_number(a) else self.emit(aten.neg.default, a)

    def subtract(self, a, b):
        if a is None or b is None or is_number(a):
            return self.add(a, self.negative(b))
        return self.emit(aten.sub.Tensor, a, b)

    def multiply(self, a, b):
        if a is None or b is None:
            return None
        if is_number(a) and is_number(b):
            return a * b
        return self.emit(aten.mul.Tensor, b, a) if is_number(a) else self.emit(aten.mul.Tensor, a, b)

    def divide(self, a, b):
        if a is None:
            return None
        if is_number(a) and is_number(b):
            return a / b
        return self.multiply(self.emit(aten.reciprocal.default, b), a) if is_number(a) else self.emit(aten.div.Tensor, a, b)

    def square_sum(self, a, b):
        return self.add(self.multiply(a, a), self.multiply(b, b))

    def product(self, a, b, multiply):
        """The product of two Parts by a bilinear function of parts."""
        return Parts(self.subtract(multiply(a.real, b.real), multiply(a.imaginary, b.imaginary)),
                     self.add(multiply(a.real, b.imaginary), multiply(a.imaginary, b.real)))


@rule("view_as_complex")
def view_as_complex(emit, function, value):
    return Parts(*(emit(aten.select.int, value, -1, index) for index in (0, 1)))


@rule("complex")
def complex_(emit, function, real, imaginary):
    return Parts(real, imaginary)


@rule("polar")
def polar(emit, function, size, angle):
    return Parts(*(emit(aten.mul.Tensor, size, emit(turn, angle)) for turn in (aten.cos.default, aten.sin.default)))


@rule("_conj", "_conj_physical")
def conjugate(emit, function, value):
    return Parts(value.real, Arithmetic(emit).negative(value.imaginary))


@rule("add", "sub")
def add(emit, function, one, other, alpha=1):
    number, one, other = Arithmetic(emit), parts_of(one), parts_of(other)
    if isinstance(alpha, complex):
        return NotImplemented
    if alpha != 1:
        other = other.each(lambda part: number.multiply(part, alpha))
    combine = number.add if function._schema.name.endswith("add") else number.subtract
    return Parts(combine(one.real, other.real), combine(one.imaginary, other.imaginary))


@rule("mul")
def multiply(emit, function, one, other):
    number = Arithmetic(emit)
    return number.product(parts_of(one), parts_of(other), number.multiply)


@rule("div", "reciprocal")
def divide(emit, function, one, other=None, rounding_mode=None):
    if rounding_mode is not None:
        return NotImplemented
    if other is None:
        one, other = 1, one
    number, one, other = Arithmetic(emit), parts_of(one), parts_of(other)
    if other.imaginary is None:
        return one.each(lambda part: number.divide(part, other.real))
    size = number.square_sum(other.real, other.imaginary)
    opposite = Parts(other.real, number.negative(other.imaginary))
    return number.product(one, opposite, number.multiply).each(lambda part: number.divide(part, size))


@rule("exp")
def exponential(emit, function, value):
    return polar(emit, function, emit(aten.exp.default, value.real), value.imaginary)


@rule("log")
def logarithm(emit, function, value):
    return Parts(emit(aten.log.default, absolute(emit, None, value).real), angle(emit, None, value).real)


@rule("abs")
def absolute(emit, function, value):
    return Parts(emit(aten.hypot.default, value.real, value.imaginary), None)


@rule("angle")
def angle(emit, function, value):
    return Parts(emit(aten.atan2.default, value.imaginary, value.real), None)


@rule("pow")
def power(emit, function, value, exponent):
    return multiply(emit, function, value, value) if exponent == 2 and isinstance(value, Parts) else NotImplemented


@rule("mm", "bmm")
def product(emit, function, one, other):
    number = Arithmetic(emit)
    one, other = parts_of(one), parts_of(other)

    def multiplied(a, b):
        return None if a is None or b is None else emit(function, a, b)

    return number.product(one, other, multiplied)


@rule("_to_copy")
def copied(emit, function, value, dtype=None, **keywords):
    if dtype is not None and not dtype.is_complex:
        return Parts(emit(function, parts_of(value).real, dtype=dtype, **keywords), None)
    keywords.update({} if dtype is None else {"dtype": REAL[dtype]})
    return parts_of(value).each(lambda part: emit(function, part, **keywords))


@rule("prims::convert_element_type")
def converted(emit, function, value, dtype):
    if not dtype.is_complex:
        return Parts(emit(function, parts_of(value).real, dtype), None)
    return parts_of(value).each(lambda part: emit(function, part, REAL[dtype]))


@rule("where")
def where(emit, function, condition, one, other):
    one, other = parts_of(one), parts_of(other)

    def chosen(a, b):
        return None if a is None and b is None else emit(aten.where.self, condition, a, b)

    if None in (one.real, other.real) or (one.imaginary is None) != (other.imaginary is None):
        return NotImplemented
    return Parts(chosen(one.real, other.real), chosen(one.imaginary, other.imaginary))


@rule("cat", "stack")
def cat(emit, function, values, dim=0):
    values = [parts_of(one) for one in values]
    if any(None in (one.real, one.imaginary) for one in values):
        return NotImplemented
    return Parts(*(emit(function, list(part), dim) for part in zip(*((one.real, one.imaginary) for one in values))))


@rule("view", "reshape", "_unsafe_view", "_reshape_alias", "permute", "transpose", "t", "unsqueeze", "squeeze", "expand", "slice", "select",
      "alias", "detach", "clone", "flip", "roll", "repeat", "index_select", "index", "gather", "neg", "sum", "mean", "cumsum",
      "split", "split_with_sizes", "unbind", "constant_pad_nd", "diagonal", "unfold", "tril", "triu", "lift_fresh_copy")
def for_each(emit, function, value, *args, **kwargs):
    if not isinstance(value, Parts) or any(isinstance(one, (Parts, complex)) for one in args) or any(getattr(one, "is_complex", False) for one in kwargs.values()):
        return NotImplemented
    if function._schema.name == "aten::view" and isinstance(args[0], torch.dtype):  # reads bits
        return NotImplemented
    made = value.each(lambda part: emit(function, part, *args, **kwargs))
    if not isinstance(made.real, list):
        return made
    return [Parts(*pair) for pair in zip(made.real, made.imaginary)]


def interleaved(emit, parts):
    """The parts beside each other in a last dimension of two, as view_as_real has them. Both parts are tensors."""
    return emit(aten.cat.default, [emit(aten.unsqueeze.default, one, -1) for one in (parts.real, parts.imaginary)], -1)


def rewritten(emit, function, args, kwargs):
    """What the rule of an operator makes of it: Parts, or a list of them. A real result is a real part. NotImplemented:
    there is no rule for the call.

    @param args, kwargs with Parts in place of complex tensors"""
    found = RULES.get(function._schema.name)
    return NotImplemented if found is None else found(emit, function, *args, **kwargs)
