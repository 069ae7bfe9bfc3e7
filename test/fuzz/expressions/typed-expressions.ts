import { type Draw, pick } from './draw.ts'

/** Kinds of values that the expressions here know; `ints`, `texts` are lists, `amounts` is a map of ints. */
export type LeafKind = 'bool' | 'int' | 'double' | 'text' | 'time' | 'span' | 'ints' | 'texts' | 'amounts'

/** Expressions by the kind of their results. */
export type Leaves = Readonly<Record<LeafKind, readonly string[]>>

/** A list or map of structured items, and the leaves of an item with a given name. */
export interface Collection {
  readonly text: string
  readonly leavesOf: (item: string) => Leaves
}

/** The values reached from the variables. */
export interface Reachable {
  readonly leaves: Leaves
  readonly collections?: readonly Collection[]
  /** Pairs of expressions of the same type. */
  readonly comparable?: readonly (readonly [string, string])[]
}

type Choice = () => string

/** Texts of expressions of a type, drawn from a seed. */
export class TypedExpressions {
  readonly #draw: Draw
  readonly #reachable: Reachable
  #leaves: Leaves
  #names = 0

  constructor(draw: Draw, reachable: Reachable) {
    this.#draw = draw
    this.#reachable = reachable
    this.#leaves = reachable.leaves
  }

  bool(depth: number): string {
    if (depth === 0) return this.#leaf('bool', ['true', 'false'])
    const less = depth - 1
    return this.#pick([
      () => `(${this.bool(less)} && ${this.bool(less)})`,
      () => `(${this.bool(less)} || ${this.bool(less)} || ${this.bool(less)})`,
      () => `!${this.bool(less)}`,
      () => `(${this.int(less)} ${this.#one(['<', '==', '>=', '!=', '>', '<='])} ${this.int(less)})`,
      () => `(${this.double(less)} ${this.#one(['<', '==', '>='])} ${this.double(less)})`,
      () => `(${this.int(less)} ${this.#one(['<', '>='])} ${this.double(less)})`,
      () => `(${this.text(less)} ${this.#one(['<', '==', '!='])} ${this.text(less)})`,
      () => `${this.text(less)}.${this.#one(['contains', 'startsWith', 'endsWith'])}(${this.text(less)})`,
      () => `(${this.int(less)} in ${this.ints(less)})`,
      () => `(${this.text(less)} in ['a', 'text', ''])`,
      () => `(${this.text(less)} in ${this.texts(less)})`,
      () => `(${this.text(less)} in ${this.#amounts()})`,
      () => `${this.text(less)}.matches('^[a-z]+$')`,
      () => `(${this.time(less)} ${this.#one(['<', '==', '>'])} ${this.time(less)})`,
      () => `(${this.span(less)} ${this.#one(['<=', '=='])} ${this.span(less)})`,
      ...(['all', 'exists', 'exists_one'] as const).map(
        (macro): Choice =>
          () =>
            this.#loop(macro, less),
      ),
      () => `(${this.ints(less)} == ${this.ints(less)})`,
      () => `${this.ints(less)}.isSorted()`,
      () => `(${this.bool(less)} ? ${this.bool(less)} : ${this.#leaf('bool', ['true'])})`,
      ...this.#ofReachable(less),
    ])
  }

  int(depth: number): string {
    if (depth === 0) return this.#leaf('int', ['1', '-3', '7'])
    const less = depth - 1
    return this.#pick([
      () => `(${this.int(less)} ${this.#one(['+', '-', '*', '/', '%'])} ${this.int(less)})`,
      () => `size(${this.text(less)})`,
      () => `${this.ints(less)}.size()`,
      () => `${this.#amounts()}.size()`,
      () => `(${this.bool(less)} ? ${this.int(less)} : ${this.int(0)})`,
      () => `${this.ints(0)}[${this.int(less)}]`,
      () => `(${this.bool(less)} ? ${this.ints(0)} : [4, 5])[${this.int(less)}]`,
      () => `{'p': ${this.int(less)}}.p`,
      () => `${this.#amounts()}[${this.text(less)}]`,
      () => `${this.ints(less)}.sum()`,
      () => `${this.text(less)}.indexOf(${this.text(0)})`,
      () => `${this.time(less)}.getFullYear()`,
      () => `int(${this.double(less)})`,
      () => `int('12')`,
    ])
  }

  double(depth: number): string {
    if (depth === 0) return this.#leaf('double', ['1.5', '-2.0', '0.0'])
    const less = depth - 1
    return this.#pick([
      () => `(${this.double(less)} ${this.#one(['+', '-', '*', '/'])} ${this.double(less)})`,
      () => `double(${this.int(less)})`,
      () => `(${this.bool(less)} ? ${this.double(less)} : 1.0)`,
      () => `-${this.double(less)}`,
    ])
  }

  text(depth: number): string {
    if (depth === 0) return this.#leaf('text', ["'text'", "''", "'k'"])
    const less = depth - 1
    return this.#pick([
      () => `(${this.text(less)} + ${this.text(less)})`,
      () => `string(${this.int(less)})`,
      () => `string(${this.span(less)})`,
      () => `(${this.bool(less)} ? ${this.text(0)} : ${this.text(less)})`,
      () => `${this.texts(0)}[${this.int(less)}]`,
      () => `${this.text(less)}.replace('t', ${this.text(less)})`,
      () => `${this.text(less)}.lowerAscii()`,
      () => `${this.text(less)}.substring(${this.int(0)})`,
      () => `${this.texts(less)}.join(${this.text(less)})`,
    ])
  }

  time(depth: number): string {
    if (depth === 0) return this.#leaf('time', ["timestamp('2020-02-29T12:00:00Z')"])
    return `(${this.time(depth - 1)} ${this.#one(['+', '-'])} ${this.span(depth - 1)})`
  }

  span(depth: number): string {
    if (depth === 0) return this.#leaf('span', ["duration('90s')"])
    const less = depth - 1
    return this.#pick([() => `(${this.span(less)} + ${this.span(less)})`, () => `(${this.time(less)} - ${this.time(less)})`])
  }

  ints(depth: number): string {
    if (depth === 0) return this.#leaf('ints', ['[1, 2]', `[${this.int(0)}, 2, 3]`])
    const less = depth - 1
    const name = this.#name()
    return this.#pick([
      () => `(${this.ints(less)} + ${this.ints(less)})`,
      () => `${this.ints(less)}.map(${name}, ${name} + ${this.int(less)})`,
      () => `${this.ints(less)}.filter(${name}, ${name} > ${this.int(less)})`,
      () => `[${this.int(less)}, ${this.int(less)}]`,
      () => `(${this.bool(less)} ? ${this.ints(0)} : ${this.ints(less)})`,
    ])
  }

  texts(depth: number): string {
    if (depth === 0) return this.#leaf('texts', ["['a', 'bb']", `[${this.text(0)}]`])
    const less = depth - 1
    return this.#pick([
      () => `(${this.texts(less)} + ${this.texts(less)})`,
      () => `${this.text(less)}.split('t')`,
      () => `[${this.text(less)}, ${this.text(less)}]`,
    ])
  }

  #amounts(): string {
    return this.#leaf('amounts', ["{'k': 1, 'text': 2}"])
  }

  #loop(macro: string, depth: number): string {
    const name = this.#name()
    return `${this.ints(depth)}.${macro}(${name}, ${name} > ${this.int(depth)} || ${this.bool(depth)})`
  }

  /** Loops over collections, and comparisons, of the reachable values alone. */
  #ofReachable(depth: number): Choice[] {
    const { collections = [], comparable = [] } = this.#reachable
    const loops: Choice[] =
      collections.length === 0 ? [] : Array.from({ length: 4 }, () => () => this.#loopOver(pick(this.#draw, collections), depth))
    const compared = (): string => {
      const [left, right] = pick(this.#draw, comparable)
      return `(${left} ${this.#one(['==', '!='])} ${right})`
    }
    return comparable.length === 0 ? loops : [...loops, compared, compared]
  }

  #loopOver({ text, leavesOf }: Collection, depth: number): string {
    const item = this.#name()
    const outer = this.#leaves
    this.#leaves = joined(leavesOf(item), outer)
    const body = this.bool(depth)
    this.#leaves = outer
    return `${text}.${this.#one(['all', 'exists', 'exists_one'])}(${item}, ${body})`
  }

  #leaf(kind: LeafKind, constants: readonly string[]): string {
    const leaves = this.#leaves[kind]
    return leaves.length === 0 || this.#draw(4) === 0 ? pick(this.#draw, constants) : pick(this.#draw, leaves)
  }

  #pick(choices: readonly Choice[]): string {
    return pick(this.#draw, choices)()
  }

  #one(texts: readonly string[]): string {
    return pick(this.#draw, texts)
  }

  #name(): string {
    this.#names += 1
    return `x${this.#names}`
  }
}

/** The leaves of an empty schema. */
export const noLeaves: Leaves = { bool: [], int: [], double: [], text: [], time: [], span: [], ints: [], texts: [], amounts: [] }

/** The leaves of both. */
export function joined(one: Leaves, other: Leaves): Leaves {
  const both = (kind: LeafKind) => [...one[kind], ...other[kind]]
  return {
    bool: both('bool'),
    int: both('int'),
    double: both('double'),
    text: both('text'),
    time: both('time'),
    span: both('span'),
    ints: both('ints'),
    texts: both('texts'),
    amounts: both('amounts'),
  }
}
