import { at } from '../at.ts'
import type { Bounds, CallEstimate, CallSizes, SizedExpr } from '../library.ts'
import { add, divideUp, fixed, multiply, perElement, perRegexCharacter, scale, smaller } from './bounds.ts'

const one = fixed(1n)

/** An estimate for a call of constant cost. */
export function constantCost(cost: bigint): (call: CallSizes) => CallEstimate {
  return () => ({ cost: fixed(cost) })
}

/** An estimate for a call that reads its first argument a number of times from start to end. */
export function readsOnce(times = 1): (call: CallSizes) => CallEstimate {
  return ({ args }) => ({ cost: scale(at(args, 0).size, times * perElement) })
}

/** Like `readsOnce`; the result is as long as the argument. */
export function transforms({ args }: CallSizes): CallEstimate {
  return { cost: scale(at(args, 0).size, perElement), size: at(args, 0).size }
}

/** The cost of matching a regular expression: the text's length plus one, since the empty text has a cost too. */
function matchCost(text: SizedExpr, pattern: SizedExpr): Bounds {
  return multiply(scale(add(text.size, one), perElement), scale(pattern.size, perRegexCharacter))
}

/** An estimate for `find` and `findAll`. */
export function findsAll({ args }: CallSizes): CallEstimate {
  return { cost: matchCost(at(args, 0), at(args, 1)), size: { min: 0n, max: at(args, 0).size.max } }
}

/** An estimate for a call that compares each element of a list once, or reads a text. */
export function comparesElements({ args }: CallSizes): CallEstimate {
  const list = at(args, 0)
  const element = list.element()
  if (element === undefined) return { cost: scale(list.size, perElement) }
  const isText = element.type.kind === 'string' || element.type.kind === 'bytes'
  return { cost: multiply(list.size, isText ? add(one, scale(element.size, perElement)) : one) }
}

/** An estimate for `replace`: the longest result has the shortest pieces replaced by the longest text, as often as they fit. */
export function replaces({ args }: CallSizes): CallEstimate {
  const [{ size: text }, { size: from }, { size: to }] = args as readonly [SizedExpr, SizedExpr, SizedExpr]
  const longest = replacedSize({ text: text.max, from: from.min, isKept: to.max <= from.min })
  const shortest = replacedSize({ text: text.min, from: from.max, isKept: from.max <= to.min })
  const count = { min: shortest.count, max: longest.count }
  const size = add(multiply(count, to), { min: shortest.kept, max: longest.kept })
  return { cost: scale(text, 2 * perElement), size }
}

/** Size of a text after replacements of a piece, with or without the original. An empty piece is found around each character. */
function replacedSize(sizes: { readonly text: bigint; readonly from: bigint; readonly isKept: boolean }) {
  if (sizes.from === 0n) return { count: add(fixed(sizes.text), one).min, kept: sizes.text }
  if (sizes.isKept) return { count: 0n, kept: sizes.text }
  return { count: divideUp(sizes.text, sizes.from), kept: 0n }
}

/** An estimate for `split`: at most as many parts as a literal limit allows, or one for each character. */
export function splits({ args }: CallSizes): CallEstimate {
  const text = at(args, 0)
  const limit = args[2]
  const literal = limit?.expr?.kind === 'constant' && limit.expr.constant.type === 'int' ? limit.expr.constant.value : undefined
  const max = literal === undefined ? text.size.max : BigInt.asUintN(64, literal)
  return { cost: scale(text.size, 2 * perElement), size: { min: 0n, max } }
}

/** An estimate for `join`: all elements and the separators between them. */
export function joins({ args }: CallSizes): CallEstimate {
  const list = at(args, 0)
  const separator = args[1]
  const element = list.element()
  const elements = element === undefined ? fixed(0n) : multiply(list.size, element.size)
  const between = { min: oneLess(list.size.min), max: oneLess(list.size.max) }
  const size = separator === undefined ? elements : add(elements, multiply(separator.size, between))
  return { cost: scale(size, perElement), size }
}

function oneLess(count: bigint): bigint {
  return count > 0n ? count - 1n : 0n
}

const listCost = 10n

/** An estimate for a call that makes a list of a given size. */
export function allocates(factor: number, size: Bounds): CallEstimate {
  return { cost: add(add(scale(size, factor), one), fixed(listCost)), size }
}

/** An estimate for `strings.quote`: each character may become two, and two quotes are added. */
export function quotes({ args }: CallSizes): CallEstimate {
  const text = at(args, 0)
  const size = { min: add(text.size, fixed(2n)).min, max: add(add(text.size, text.size), fixed(2n)).max }
  return { cost: scale(text.size, perElement), size }
}

/** An estimate for `+` on texts: both are copied. */
export function concatenates({ args }: CallSizes): CallEstimate {
  const size = add(at(args, 0).size, at(args, 1).size)
  return { cost: scale(size, perElement), size }
}

/** An estimate for `+` on lists, which copies no elements. */
export function joinsLists({ args }: CallSizes): CallEstimate {
  return { cost: one, size: add(at(args, 0).size, at(args, 1).size) }
}

/** An estimate for `==`, `<` and the like: up to the size of the shorter value. */
export function compares({ args }: CallSizes): CallEstimate {
  const max = smaller(at(args, 0).size.max, at(args, 1).size.max)
  return { cost: scale({ min: max > 0n ? 1n : 0n, max }, perElement) }
}

/** An estimate for `startsWith` and `endsWith`. */
export function comparesArgument({ args }: CallSizes): CallEstimate {
  return { cost: scale(at(args, 1).size, perElement) }
}

/** An estimate for `contains`. */
export function searches({ args }: CallSizes): CallEstimate {
  return { cost: multiply(scale(at(args, 0).size, perElement), scale(at(args, 1).size, perElement)) }
}

/** An estimate for `matches`. */
export function matches({ args }: CallSizes): CallEstimate {
  return { cost: matchCost(at(args, 0), at(args, 1)) }
}

/** An estimate for `in` on a list: every element is compared. */
export function looksThrough({ args }: CallSizes): CallEstimate {
  return { cost: at(args, 1).size }
}

/** An estimate for `bytes(text)`, where a character is up to four bytes. */
export function encodes({ args }: CallSizes): CallEstimate {
  const { size } = at(args, 0)
  return { cost: scale(size, perElement), size: { min: size.min, max: BigInt.asUintN(64, size.max * 4n) } }
}

/** An estimate for `string(bytes)`. */
export function decodes({ args }: CallSizes): CallEstimate {
  const { size } = at(args, 0)
  return { cost: scale(size, perElement), size: { min: size.min / 4n, max: size.max } }
}
