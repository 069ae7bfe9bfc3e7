import { at } from '../at.ts'
import { type CelType, parameterOf, types } from '../types.ts'
import { isDynOrError, isPlain, mapParts, nameOf, partsOf } from './walk.ts'

/** Maximum number of type comparisons for one expression. A type that contains itself twice, many levels deep, would take exponential time. */
const stepsMax = 1_000_000

/** Thrown where an expression's types take too long to compare. */
export class TypesTooLarge extends Error {}

/**
 * The bindings of an expression's type parameters. Assigning types binds parameters; a failed assignment binds none.
 *
 *   [] == [1]    the literal [] is list(_0), == takes (_1, _1):   _1 = list(_0), then _0 = int
 */
export class TypeSolver {
  readonly #bound = new Map<string, CelType>()
  /** Bindings that the current assignment has replaced. They are restored if the assignment fails. */
  readonly #trail: { readonly name: string; readonly before: CelType | undefined }[] = []
  #parameters = 0
  #steps = 0

  /** An unbound parameter. */
  fresh(): CelType {
    this.#parameters += 1
    return parameterOf(`_${this.#parameters}`)
  }

  /** A fresh parameter for each name. */
  freshFor(names: readonly string[]): ReadonlyMap<string, CelType> {
    return new Map(names.map((name) => [name, this.fresh()]))
  }

  /** Advances the counter of fresh parameters. */
  skip(count: number): void {
    this.#parameters += count
  }

  /** True if values of each type on the left are assignable to the type at the same index on the right. */
  assign(left: readonly CelType[], right: readonly CelType[]): boolean {
    for (let index = 0; index < left.length; index += 1) {
      if (left.length === right.length && this.#isAssignable(at(left, index), at(right, index))) continue
      this.#undo()
      return false
    }
    this.#trail.length = 0
    return left.length === right.length
  }

  /** The type of a list or map literal that holds values of both types; undefined if no such type exists. */
  join(first: CelType, second: CelType): CelType | undefined {
    if (first === second && isPlain(first)) return first
    return this.assign([first], [second]) ? this.#moreGeneral(first, second) : undefined
  }

  /** A type with parameters replaced by their bindings. If it is final, unbound parameters become dyn. */
  resolve(type: CelType, isFinal = false, known?: Map<CelType, CelType>): CelType {
    if (isPlain(type) || (type.kind === 'list' && isPlain(type.element))) return type
    return this.#resolveParts(type, isFinal, known ?? new Map())
  }

  #resolveParts(type: CelType, isFinal: boolean, known: Map<CelType, CelType>): CelType {
    const found = known.get(type)
    if (found !== undefined) return found
    this.#step()
    const bound = type.kind === 'parameter' ? this.#bound.get(type.name) : undefined
    const resolved = this.#resolveUnknown(type, bound, isFinal, known)
    known.set(type, resolved)
    return resolved
  }

  #resolveUnknown(type: CelType, bound: CelType | undefined, isFinal: boolean, known: Map<CelType, CelType>): CelType {
    if (bound !== undefined) return this.resolve(bound, isFinal, known)
    if (type.kind === 'parameter') return isFinal ? types.dyn : type
    return mapParts(type, (part) => this.resolve(part, isFinal, known))
  }

  #isAssignable(left: CelType, right: CelType): boolean {
    this.#step()
    if (right.kind === 'parameter') {
      const outcome = this.#bind(right, left)
      if (outcome !== 'circular' || left.kind !== 'parameter') return outcome === 'agrees'
    }
    if (left.kind === 'parameter') return this.#bind(left, right) === 'agrees'
    if (isDynOrError(left) || isDynOrError(right)) return true
    if (left.kind === 'null') return isNullable(right)
    if (right.kind === 'null') return isNullable(left)
    return this.#isSameKind(unwrap(left), unwrap(right))
  }

  #isSameKind(left: CelType, right: CelType): boolean {
    if (left.kind !== right.kind || nameOf(left) !== nameOf(right)) return false
    if (left.kind === 'type' || isPlain(left)) return true
    const parts = partsOf(right)
    return partsOf(left).length === parts.length && partsOf(left).every((part, index) => this.#isAssignable(part, at(parts, index)))
  }

  /** Binds a parameter to a type, or to the more general of the type and the earlier binding. */
  #bind(parameter: CelType & { readonly kind: 'parameter' }, type: CelType): 'agrees' | 'differs' | 'circular' {
    if (type.kind === 'parameter' && type.name === parameter.name) return 'agrees'
    const bound = this.#bound.get(parameter.name)
    if (bound === undefined) {
      if (this.#occurs(parameter.name, type)) return 'circular'
      this.#set(parameter.name, type)
      return 'agrees'
    }
    if (this.#isSame(type, bound)) return 'agrees'
    if (!this.#isAssignable(type, bound)) return 'differs'
    const general = this.#moreGeneral(type, bound)
    if (general !== bound && !this.#occurs(parameter.name, general)) this.#set(parameter.name, general)
    return 'agrees'
  }

  #set(name: string, type: CelType): void {
    this.#trail.push({ name, before: this.#bound.get(name) })
    this.#bound.set(name, type)
  }

  #undo(): void {
    for (let last = this.#trail.pop(); last !== undefined; last = this.#trail.pop()) {
      if (last.before === undefined) this.#bound.delete(last.name)
      else this.#bound.set(last.name, last.before)
    }
  }

  #moreGeneral(first: CelType, second: CelType): CelType {
    return this.#isAsGeneral(first, second) ? first : second
  }

  #isAsGeneral(first: CelType, second: CelType): boolean {
    this.#step()
    if (first.kind === 'dyn' || first.kind === 'parameter') return true
    if (second.kind === 'dyn' || second.kind === 'parameter') return false
    if (unwrap(first).kind !== unwrap(second).kind) return false
    if (first.kind === 'type') return true
    if (partsOf(first).length === 0 || first.kind === 'wrapper') return this.#isSame(first, second)
    const parts = partsOf(second)
    if (nameOf(first) !== nameOf(second) || parts.length !== partsOf(first).length) return false
    return partsOf(first).every((part, index) => this.#isAsGeneral(part, at(parts, index)))
  }

  #isSame(first: CelType, second: CelType): boolean {
    if (first === second) return true
    this.#step()
    if (first.kind !== second.kind || nameOf(first) !== nameOf(second)) return false
    if (isPlain(first)) return true
    const parts = partsOf(second)
    return partsOf(first).length === parts.length && partsOf(first).every((part, index) => this.#isSame(part, at(parts, index)))
  }

  /** True if a parameter is a part of a type, or of the bindings of the type's own parameters. */
  #occurs(name: string, type: CelType): boolean {
    this.#step()
    if (isPlain(type)) return false
    if (type.kind !== 'parameter') return partsOf(type).some((part) => this.#occurs(name, part))
    if (type.name === name) return true
    const bound = this.#bound.get(type.name)
    return bound !== undefined && this.#occurs(name, bound)
  }

  #step(): void {
    this.#steps += 1
    if (this.#steps > stepsMax) throw new TypesTooLarge(`the types of the expression take more than ${stepsMax} steps to compare`)
  }
}

function unwrap(type: CelType): CelType {
  return type.kind === 'wrapper' ? type.value : type
}

function isNullable({ kind }: CelType): boolean {
  return ['null', 'wrapper', 'optional', 'opaque', 'object', 'duration', 'timestamp'].includes(kind)
}

/** A type with its parameters replaced by the bindings of their names. */
export function substitute(type: CelType, known: ReadonlyMap<string, CelType>): CelType {
  if (type.kind === 'parameter') return known.get(type.name) ?? type
  return mapParts(type, (part) => substitute(part, known))
}
