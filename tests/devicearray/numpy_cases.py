#!/usr/bin/env python3
"""Random arrays, views of views and assignments, with what NumPy makes of them: a Python literal a line.

    numpy_cases.py --seed 7 --cases 4000          # numpy_property.cpp replays them
    numpy_cases.py --seed 7 --case 1234           # repeats one of them

A case depends on the seed and its own number alone.
"""
import argparse
import random

import numpy as np

MOST_ELEMENTS = 240
MOST_AXES = 32  # of NumPy before 2.0

# Their names in NumPy and dtype_from_numpy().
SCALARS = [(t, t) for t in ("?", "i1", "<i2", "<i4", "<i8", "u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16")]
RAW = [("V2", "bfloat16"), ("V3", "|V3"), ("V5", "|V5"), ("V12", "|V12")]
PACKED = [
    [("x", "<f4"), ("v", "<i2", (2, 2))],
    [("a", "|i1"), ("b", "<f8"), ("c", "<u2")],
    [("re", "<f4"), ("im", "<f4")],
]
# NumPy keeps the bytes between fields, transfers of whole records do not: only its fields are assigned.
PADDED = {"names": ["p", "q", "r"], "formats": ["<f4", "<f4", "|i1"], "offsets": [4, 8, 14], "itemsize": 16}
VIEWED_AS = ["u1", "<u2", "<f4", "<i8", "<c16", "V3"]


def some_dtype(rng):
    kind = rng.random()
    if kind < 0.7:
        ours = rng.choice(SCALARS)
    elif kind < 0.8:
        ours = rng.choice(RAW)
    else:
        record = rng.choice(PACKED + [PADDED])
        return np.dtype(record), repr(record)
    return np.dtype(ours[0]), ours[1]


def some_shape(rng, most=MOST_ELEMENTS):
    shape = []
    for _ in range(rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 14])):
        extent = 0 if rng.random() < 0.01 else rng.randint(1, max(1, min(most, rng.choice([2, 6, 9, 48]))))
        shape.append(extent)
        most //= max(extent, 1)
    rng.shuffle(shape)
    return tuple(shape)


def some_base(rng, shape=None, dtype=None):
    if dtype is None:
        dtype = some_dtype(rng)
    if shape is None:
        shape = some_shape(rng)
    order = rng.choice("CCF")
    count = int(np.prod(shape, dtype=np.int64))
    data = rng.randbytes(count * dtype[0].itemsize)
    if dtype[0].kind == "b":
        data = bytes(byte & 1 for byte in data)
    array = np.ndarray(shape, dtype[0], bytearray(data) or bytearray(1), order=order)
    return array, {"dtype": dtype[1], "shape": shape, "order": order, "memory": data.hex()}


# ---- views: each returns the operation and the view, or None if it does not apply ----


def some_bound(rng, extent):
    return None if rng.random() < 0.3 else rng.randint(-extent - 2, extent + 2)


def by_slice(rng, a):
    indices, literal = [], []
    dots = rng.randint(0, a.ndim) if rng.random() < 0.3 else None
    for axis in range(a.ndim):
        if axis == dots:
            indices.append(Ellipsis)
            literal.append("...")
            if rng.random() < 0.7:
                break
            continue  # an ellipsis that stands for one axis
        if rng.random() < 0.08:
            indices.append(np.newaxis)
            literal.append("newaxis")
        kind, extent = rng.random(), a.shape[axis]
        if kind < 0.15 and extent > 0:
            at = rng.randint(-extent, extent - 1)
            indices.append(at)
            literal.append(at)
        elif kind < 0.5:
            indices.append(slice(None))
            literal.append((None, None, None))
        else:
            part = (some_bound(rng, extent), some_bound(rng, extent), rng.choice([None, 1, 1, 2, 3, -1, -1, -2]))
            if a[(slice(None),) * axis + (slice(*part),)].size == 0 and rng.random() < 0.95:
                part = (None, None, part[2])
            indices.append(slice(*part))
            literal.append(part)
    if Ellipsis not in indices:
        indices.append(Ellipsis)  # an array of no axes, never a scalar
    return ("slice", literal), a[tuple(indices)]


def by_transpose(rng, a):
    if rng.random() < 0.5:
        return ("transpose",), a.T
    axes = list(range(a.ndim))
    rng.shuffle(axes)
    return ("transpose", tuple(axes)), a.transpose(axes)


def factors(rng, count):
    shape = []
    while count > 1 and len(shape) < 5:
        divisors = [d for d in range(1, count + 1) if count % d == 0]
        shape.append(rng.choice(divisors))
        count //= shape[-1]
    return tuple(shape + ([count] if count > 1 else []))


def by_reshape(rng, a):
    if a.size == 0:
        return None
    order = rng.choice("CCF")
    shape = (-1,) if rng.random() < 0.2 else factors(rng, a.size)
    operation = ("reshape", shape, order) if shape != (-1,) else ("ravel", order)
    view = a.reshape(shape, order=order)
    if not np.may_share_memory(view, a):
        return ("refused",) + operation, a
    return operation, view


def by_squeeze(rng, a):
    axes = tuple(i for i in range(a.ndim) if a.shape[i] == 1 and rng.random() < 0.7)
    if not axes or rng.random() < 0.5:
        return ("squeeze",), a.squeeze()
    return ("squeeze", axes), a.squeeze(axes)


def by_expand(rng, a):
    axis = rng.randint(-a.ndim - 1, a.ndim)
    return ("expand_dims", axis), np.expand_dims(a, axis)


def by_view(rng, a):
    dtype = rng.choice(VIEWED_AS)
    if a.size == 0 or a.dtype.kind == "b" or (a.dtype.names and a.dtype.itemsize != np.dtype(dtype).itemsize):
        return None
    try:
        return ("view", dtype if dtype[0] in "<u" else "|" + dtype), a.view(dtype)
    except ValueError:
        return None


def by_field(rng, a):
    if not a.dtype.names:
        return None
    name = rng.choice(a.dtype.names)
    return ("field", name), a[name]


def by_split(rng, a):
    axes = [i for i in range(a.ndim) if a.shape[i] > 1]
    if not axes:
        return None
    axis = rng.choice(axes)
    section = rng.randint(1, a.shape[axis])
    pieces = np.split(a, range(section, a.shape[axis], section), axis)
    which = rng.randrange(len(pieces))
    return ("split", section, axis, which), pieces[which]


VIEWS = [by_slice] * 4 + [by_transpose] * 2 + [by_reshape] * 3 + [by_squeeze, by_expand, by_view, by_split] + [by_field] * 2


def some_view(rng, a, most=4):
    operations = []
    for _ in range(rng.randint(0, most)):
        made = rng.choice(VIEWS)(rng, a)
        if made is None or made[1].ndim > MOST_AXES or (made[1].size == 0 and rng.random() < 0.9):
            continue
        operations.append(made[0])
        a = made[1]
    return operations, a


# ---- pairs of views of one shape ----


def some_slice(rng, extent, count, step, start):
    """`count` places `step` apart, of which the lowest is `start`, in either direction."""
    if count > 1 and rng.random() < 0.2:
        return (start + (count - 1) * step, start - 1 if start > 0 else None, -step)
    return (start, min(start + (count - 1) * step + 1, extent), step)


def interleaved(rng, extent):
    """Two slices of one axis that share no index, for most extents: even and odd indices, or consecutive ranges."""
    if rng.random() < 0.4:
        count = rng.randint(1, max(1, extent // 2))
        first, second = (0, extent - count) if rng.random() < 0.5 else (extent - count, 0)
        return some_slice(rng, extent, count, 1, first), some_slice(rng, extent, count, 1, second)
    steps = [2 * rng.randint(1, 3), 2 * rng.randint(1, 3)]
    count = max(1, min((extent - 2) // max(steps) + 1, rng.randint(1, 12)))
    starts = [0, 1 if extent > 1 else 0]
    rng.shuffle(starts)
    return tuple(some_slice(rng, extent, count, step, start) for step, start in zip(steps, starts))


def anyhow(rng, extent):
    count = rng.randint(1, extent)
    both = []
    for _ in range(2):
        step = rng.randint(1, (extent - 1) // (count - 1)) if count > 1 else 1
        step = min(step, rng.choice([1, 2, 3, 4, 9]))
        start = rng.randint(0, extent - 1 - (count - 1) * step)
        both.append(some_slice(rng, extent, count, step, start))
    return tuple(both)


def some_pair(rng, a):
    """Two views of `a` of one shape: overlapping, interleaved or separate."""
    if a.size == 0:
        return None
    told = rng.randrange(a.ndim) if a.ndim and rng.random() < 0.6 else None
    both = [(interleaved if axis == told else anyhow)(rng, a.shape[axis]) for axis in range(a.ndim)]
    to, source = (a[tuple(slice(*pair[side]) for pair in both) + (...,)] for side in range(2))
    to_ops, from_ops = ([("slice", [pair[side] for pair in both])] for side in range(2))
    assert to.shape == source.shape
    if rng.random() < 0.2:  # axes of equal extents exchanged
        axes = list(range(a.ndim))
        rng.shuffle(axes)
        if tuple(source.shape[i] for i in axes) == to.shape:
            from_ops.append(("transpose", tuple(axes)))
            source = source.transpose(axes)
    if rng.random() < 0.15 and a.ndim:  # one index repeated
        axis = rng.randrange(a.ndim)
        from_ops.append(("slice", [(None, None, None)] * axis + [(0, 1, None)]))
        from_ops.append(("broadcast_to", to.shape))
        source = np.broadcast_to(source[(slice(None),) * axis + (slice(0, 1),)], to.shape)
    return (to_ops, to), (from_ops, source)


def seen(a, base):
    """A view's properties."""
    offset = a.__array_interface__["data"][0] - base.__array_interface__["data"][0] if a.size else 0
    flags = a.flags
    return {"shape": a.shape, "strides": a.strides, "offset": offset, "c": flags.c_contiguous, "f": flags.f_contiguous,
            "bytes": a.tobytes().hex()}


def ours(dtype):
    """The name of a view's dtype, which a base has in its literal."""
    if dtype == np.dtype("V2"):
        return "bfloat16"
    return repr(dtype.descr) if dtype.names else dtype.str


def memory(base):
    return base.tobytes("A").hex()


def whole(a):
    """True if it may be assigned as a whole, gaps included."""
    return not a.dtype.names or sum(t.itemsize for t, *_ in a.dtype.fields.values()) == a.dtype.itemsize


def only_fields(rng, ops, a):
    while not whole(a):
        name = rng.choice(a.dtype.names)
        ops.append(("field", name))
        a = a[name]
    return a


def assign(to, source):
    """As documented since NumPy 1.13. NumPy 1.24 itself is wrong along one axis: a = arange(15); a[5:12] = a[1:14:2] gives 13, not 11, in a[10]."""
    to[...] = source.copy()


def assignment_within(rng):
    base, case = some_base(rng)
    ops, parent = some_view(rng, base, 3)
    parent = only_fields(rng, ops, parent)
    pair = some_pair(rng, parent)
    if pair is None:
        return None
    (to_ops, to), (from_ops, source) = pair
    case.update({"do": "assign", "to": ops + to_ops, "from": ops + from_ops, "to_is": seen(to, base), "from_is": seen(source, base)})
    assign(to, source)
    case["after"] = memory(base)
    return case


def assignment_of_fields(rng):
    """Two fields of the same records, interleaved."""
    dtype = rng.choice([PACKED[2], PADDED])
    base, case = some_base(rng, dtype=(np.dtype(dtype), repr(dtype)))
    ops, parent = some_view(rng, base, 2)
    pair = some_pair(rng, parent)
    if pair is None or not parent.dtype.names:
        return None
    names = [name for name in parent.dtype.names if parent.dtype[name] == "<f4"]
    first, second = rng.choice(names), rng.choice(names)
    (to_ops, to), (from_ops, source) = pair
    to, source = to[first], source[second]
    case.update({"do": "assign", "to": ops + to_ops + [("field", first)], "from": ops + from_ops + [("field", second)],
                 "to_is": seen(to, base), "from_is": seen(source, base)})
    assign(to, source)
    case["after"] = memory(base)
    return case


def assignment_between(rng):
    base, case = some_base(rng)
    to_ops, to = some_view(rng, base, 3)
    to = only_fields(rng, to_ops, to)
    if to.size == 0:
        return None
    # A larger array, of which a slice in another order has the shape.
    axes = list(range(to.ndim))
    rng.shuffle(axes)
    steps = [rng.choice([1, 1, 1, 2, 3]) for _ in axes]
    shape = tuple(to.shape[axis] * step for axis, step in zip(axes, steps))
    other, other_case = some_base(rng, shape, (to.dtype, ours(to.dtype)))
    from_ops = [("slice", [(None, None, step) for step in steps])]
    source = other[tuple(slice(None, None, step) for step in steps) + (...,)]
    back = tuple(axes.index(i) for i in range(to.ndim))
    from_ops.append(("transpose", back))
    source = source.transpose(back)
    case.update({"do": "assign", "to": to_ops, "other": other_case, "from": from_ops, "to_is": seen(to, base), "from_is": seen(source, other)})
    assign(to, source)
    case["after"] = memory(base)
    return case


def some_value(rng, dtype):
    value = rng.randbytes(dtype.itemsize)
    return bytes(byte & 1 for byte in value) if dtype.kind == "b" else value


def fill_or_set(rng):
    base, case = some_base(rng)
    ops, to = some_view(rng, base)
    to = only_fields(rng, ops, to)
    value = some_value(rng, to.dtype)
    scalar = np.frombuffer(value, to.dtype).reshape(())
    case.update({"do": "fill", "to": ops, "to_is": seen(to, base), "value": value.hex()})
    if to.size > 0 and rng.random() < 0.5:
        index = tuple(rng.randint(-extent, extent - 1) for extent in to.shape)
        case.update({"do": "set", "index": index})
        to[index + (Ellipsis,)] = scalar
    else:
        to[...] = scalar
    case["after"] = memory(base)
    return case


def refusal(rng):
    """NumPy's broadcast views are read-only."""
    base, case = some_base(rng)
    ops, a = some_view(rng, base, 2)
    a = only_fields(rng, ops, a)
    axes = [i for i in range(a.ndim) if a.shape[i] == 1]
    if a.size == 0 or a.ndim >= MOST_AXES:
        return None
    shape = tuple(rng.randint(2, 3) if i in axes and rng.random() < 0.7 else n for i, n in enumerate(a.shape))
    if shape == a.shape:
        shape = (rng.randint(2, 4),) + shape
    to = np.broadcast_to(a, shape)
    value = some_value(rng, to.dtype)
    case.update({"do": rng.choice(["fill", "set", "assign"]), "to": ops + [("broadcast_to", shape)], "to_is": seen(to, base),
                 "value": value.hex(), "index": (0,) * to.ndim})
    try:
        to[...] = np.frombuffer(value, to.dtype).reshape(())
    except ValueError as error:
        case["refused"] = str(error)
    if case["do"] == "assign":
        case["from"], case["from_is"] = case["to"], case["to_is"]
    case["after"] = memory(base)
    return case


KINDS = [assignment_within] * 8 + [assignment_between] * 4 + [assignment_of_fields] * 2 + [fill_or_set] * 3 + [refusal]


def case_of(seed, number):
    rng = random.Random(f"{seed}/{number}")
    while True:
        case = rng.choice(KINDS)(rng)
        if case:
            return {"case": number, **case}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=4000)
    parser.add_argument("--case", type=int)
    arguments = parser.parse_args()
    numbers = range(arguments.cases) if arguments.case is None else [arguments.case]
    for number in numbers:
        print(case_of(arguments.seed, number))


if __name__ == "__main__":
    main()
