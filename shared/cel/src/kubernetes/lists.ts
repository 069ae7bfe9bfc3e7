import { at } from '../at.ts'
import { add, fixed, multiply, scale } from '../estimate/bounds.ts'
import { allocates, comparesElements } from '../estimate/calls.ts'
import { type CallEstimate, type CallSizes, type Library, type Macro, memberOverload, type Overload, overload } from '../library.ts'
import { listOfEach } from '../macros/loops.ts'
import { bindVariable, loopVariable } from '../macros/parts.ts'
import { type CelType, listOf, parameterOf, types } from '../types.ts'

const { bool, bytes, double, duration, dyn, int, string, timestamp, uint } = types
const t = parameterOf('T')
const comparable: Readonly<Record<string, CelType>> = { int, uint, double, bool, duration, timestamp, string, bytes }
const summable: Readonly<Record<string, CelType>> = { int, uint, double, duration }
const once = { estimate: comparesElements }

/** Order, sum, extremes and positions of list elements. */
export const lists: Library = {
  name: 'lists',
  since: 0,
  functions: {
    isSorted: ofEach(comparable, (name, type) => memberOverload(`list_${name}_is_sorted_bool`, [listOf(type)], bool, once)),
    sum: ofEach(summable, (name, type) => memberOverload(`list_${name}_sum_${name}`, [listOf(type)], type, once)),
    max: ofEach(comparable, (name, type) => memberOverload(`list_${name}_max_${name}`, [listOf(type)], type, once)),
    min: ofEach(comparable, (name, type) => memberOverload(`list_${name}_min_${name}`, [listOf(type)], type, once)),
    indexOf: [memberOverload('list_a_index_of_int', [listOf(t), t], int, once)],
    lastIndexOf: [memberOverload('list_a_last_index_of_int', [listOf(t), t], int, once)],
  },
}

/** Tests whether a list contains a value, or a single value equals it. */
export const includes: Library = {
  name: 'lists (includes)',
  since: 37,
  functions: { includes: [memberOverload('list_includes_dyn_dyn', [dyn, dyn], bool, { estimate: includesElement })] },
}

/** The method that sorts a list by a list of keys. Its name cannot be written in an expression. */
const sortByKeys = '@sortByAssociatedKeys'

const input = '@__sortBy_input__'

/** `list.sortBy(element, key)`: the list in the order of its keys. */
const sortByMacro: Macro = {
  name: 'sortBy',
  member: true,
  arguments: 2,
  expand(builder, target, args) {
    if (target === undefined) return undefined
    if (!['list', 'select', 'ident', 'comprehension', 'call'].includes(target.kind)) {
      return builder.fail('sortBy can only be applied to a list, identifier, comprehension, call or select expression', target)
    }
    const variable = loopVariable(builder, at(args, 0))
    if (variable === undefined) return undefined
    const keys = builder.comprehension({ variable, range: builder.ident(input), ...listOfEach(builder, undefined, at(args, 1)) })
    return bindVariable(builder, input, target, builder.memberCall(sortByKeys, builder.ident(input), keys))
  },
}

/** Functions that make a list from a list: parts of it, its order, distinct elements. */
export const listTransforms: Library = {
  name: 'lists (transforms)',
  since: 34,
  macros: [sortByMacro],
  functions: {
    slice: [memberOverload('list_slice', [listOf(t), int, int], listOf(t), { estimate: slices })],
    flatten: [
      memberOverload('list_flatten', [listOf(listOf(t))], listOf(t), { estimate: flattens }),
      memberOverload('list_flatten_int', [listOf(dyn), int], listOf(dyn), { estimate: flattens }),
    ],
    sort: ofEach(comparable, (name, type) =>
      memberOverload(`list_${name}_sort`, [listOf(type)], listOf(type), { estimate: ({ args }) => sorts(at(args, 0).size, type) }),
    ),
    [sortByKeys]: ofEach(comparable, (name, type) =>
      memberOverload(`list_${name}_sortByAssociatedKeys`, [listOf(t), listOf(type)], listOf(t), {
        estimate: ({ args }) => sorts(at(args, 1).size, type),
      }),
    ),
    'lists.range': [overload('lists_range', [int], listOf(int), { estimate: ranges })],
    reverse: [memberOverload('list_reverse', [listOf(t)], listOf(t), { estimate: ({ args }) => allocates(1, at(args, 0).size) })],
    distinct: [
      memberOverload('list_distinct', [listOf(t)], listOf(t), { estimate: ({ args }) => allocates(2, squared(at(args, 0).size)) }),
    ],
  },
}

/** Lists as sets. */
export const sets: Library = {
  name: 'sets',
  since: 29,
  functions: {
    'sets.contains': [overload('list_sets_contains_list', [listOf(t), listOf(t)], bool, { estimate: comparesAll(1) })],
    'sets.equivalent': [overload('list_sets_equivalent_list', [listOf(t), listOf(t)], bool, { estimate: comparesAll(2) })],
    'sets.intersects': [overload('list_sets_intersects_list', [listOf(t), listOf(t)], bool, { estimate: comparesAll(1) })],
  },
}

function ofEach(types: Readonly<Record<string, CelType>>, make: (name: string, type: CelType) => Overload): readonly Overload[] {
  return Object.entries(types).map(([name, type]) => make(name, type))
}

/** An element of a list of dyn counts as 1. */
function includesElement(call: CallSizes): CallEstimate {
  const list = at(call.args, 0)
  return list.element() === undefined ? { cost: list.size } : comparesElements(call)
}

function comparesAll(times: number): (call: CallSizes) => CallEstimate {
  return ({ args }) => ({ cost: add(scale(multiply(at(args, 0).size, at(args, 1).size), times), fixed(1n)) })
}

function slices({ args }: CallSizes): CallEstimate {
  const start = literalInt(args[1]) ?? 0n
  const end = literalInt(args[2]) ?? at(args, 0).size.max
  return allocates(1, fixed(BigInt.asUintN(64, end - start)))
}

function flattens({ args }: CallSizes): CallEstimate {
  const depth = args[1] === undefined ? 1n : (literalInt(args[1]) ?? 2n ** 64n - 1n)
  return allocates(Number(depth), at(args, 0).size)
}

function ranges({ args }: CallSizes): CallEstimate {
  return allocates(1, fixed(literalInt(args[0]) ?? 2n ** 64n - 1n))
}

function sorts(size: CallSizes['args'][number]['size'], type: CelType): CallEstimate {
  return allocates(type.kind === 'string' || type.kind === 'bytes' ? 2.1 : 2, squared(size))
}

function squared(size: CallSizes['args'][number]['size']) {
  return multiply(size, size)
}

/** The value of an argument that is a literal number, at least 0; undefined for any other. */
function literalInt(argument: CallSizes['args'][number] | undefined): bigint | undefined {
  const { expr } = argument ?? {}
  if (expr?.kind !== 'constant' || expr.constant.type !== 'int') return undefined
  return expr.constant.value < 0n ? 0n : expr.constant.value
}
