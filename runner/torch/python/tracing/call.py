"""A call of an ATen operator with its arguments by name, and queries for handlers."""
import torch

from .errors import Refusal

DTYPES = {torch.bool: "bool", torch.int8: "int8", torch.uint8: "uint8", torch.int16: "int16", torch.int32: "int32",
          torch.int64: "int64", torch.float16: "float16", torch.bfloat16: "bfloat16", torch.float32: "float32",
          torch.float64: "float64"}
for _name in ("uint16", "uint32", "uint64"):
    if hasattr(torch, _name):
        DTYPES[getattr(torch, _name)] = _name


def dtype_name(dtype):
    if dtype not in DTYPES:
        instead = "; torch.compile(model, backend=\"warpwright\") takes complex numbers" if dtype.is_complex else ""
        raise Refusal("it computes with %s, which op graphs do not hold%s" % (str(dtype).replace("torch.", ""), instead))
    return DTYPES[dtype]


def is_floating(dtype):
    return dtype.startswith(("float", "bfloat"))


def flatten(tree):
    """The leaves of nested lists and tuples."""
    if isinstance(tree, (list, tuple)):
        return [leaf for item in tree for leaf in flatten(item)]
    return [tree]


def map_tensors(function, tree):
    if isinstance(tree, torch.Tensor):
        return function(tree)
    if isinstance(tree, (list, tuple)):
        return type(tree)(map_tensors(function, item) for item in tree)
    if isinstance(tree, dict):
        return {key: map_tensors(function, item) for key, item in tree.items()}
    return tree


def bound_arguments(func, args, kwargs):
    """The schema's arguments by name, with defaults filled in."""
    bound = {}
    for index, argument in enumerate(func._schema.arguments):
        if index < len(args) and not argument.kwarg_only:
            bound[argument.name] = args[index]
        elif argument.name in kwargs:
            bound[argument.name] = kwargs[argument.name]
        else:
            bound[argument.name] = argument.default_value if argument.has_default_value() else None
    return bound


def with_dtype(func, args, kwargs):
    """The keyword arguments, with a dtype for `arange` and `full`. PyTorch 1.13's kernels for fake
    tensors choose a wrong dtype if none is given."""
    name = func._schema.name.split("::")[-1]
    if name not in ("arange", "full") or kwargs.get("dtype") is not None:
        return kwargs
    numbers = list(args[1:2]) if name == "full" else [value for value in args if isinstance(value, (int, float))]
    numbers += [kwargs[key] for key in ("fill_value", "start", "end", "step") if key in kwargs]
    if any(isinstance(value, float) for value in numbers):
        dtype = torch.get_default_dtype()
    else:
        dtype = torch.bool if all(isinstance(value, bool) for value in numbers) else torch.int64
    return dict(kwargs, dtype=dtype)


class Call:
    """@var args the arguments by name, with the trace's tensors
    @var out the result in the trace: a tensor or a tuple of tensors"""

    def __init__(self, mode, func, args, kwargs, out=None):
        self.mode = mode
        self.builder = mode.builder
        self.func = func
        self.positional, self.keywords = args, kwargs
        self.args = bound_arguments(func, args, kwargs)
        self.out = out

    def __getitem__(self, name):
        return self.args[name]

    def get(self, name, default=None):
        value = self.args.get(name)
        return default if value is None else value

    # Values.

    def value(self, tensor):
        return self.mode.read(tensor)

    def __call__(self, name, dtype=None):
        """The value of a tensor argument, cast to `dtype` if given; a number becomes a constant."""
        return self.operand(self.args[name], dtype)

    def operand(self, argument, dtype=None):
        if isinstance(argument, torch.Tensor):
            value = self.mode.read(argument)
            return self.builder.cast(value, dtype) if dtype else value
        return self.builder.constant(argument, dtype)

    def has(self, name):
        return self.args.get(name) is not None

    def write(self, name, value):
        """Records that the operator changes an argument in place, even if its schema does not say
        so."""
        tracked = self.mode.tracked(self.args[name])
        self.mode.values.write(tracked, value)

    # Types.

    @property
    def dtype(self):
        """Name of the dtype of the (first) result."""
        return dtype_name(self.result().dtype)

    @property
    def shape(self):
        return tuple(self.result().shape)

    def result(self, index=0):
        return self.out if isinstance(self.out, torch.Tensor) else self.out[index]

    def promoted(self, *names):
        """The dtype to which PyTorch promotes these arguments, which are tensors or numbers."""
        values = [map_tensors(self.mode.fake, self.args[name]) for name in names if self.args[name] is not None]
        dtype = values[0].dtype if isinstance(values[0], torch.Tensor) else None
        for first, second in zip(values, values[1:]):
            dtype = torch.result_type(first, second)
        return dtype_name(dtype)

    def rank(self, name="self"):
        return self.args[name].dim()

    def dim(self, name="dim", of="self"):
        """A dimension argument, counted from the front."""
        rank = max(self.args[of].dim(), 1)
        return int(self.args[name]) % rank

    def dims(self, name="dim", of="self"):
        """A list of dimensions, counted from the front; all dimensions for None or []."""
        given = self.args.get(name)
        rank = self.args[of].dim()
        if given is None or (isinstance(given, (list, tuple)) and not given):
            return list(range(rank))
        given = given if isinstance(given, (list, tuple)) else [given]
        return sorted(int(d) % max(rank, 1) for d in given) if rank else []
