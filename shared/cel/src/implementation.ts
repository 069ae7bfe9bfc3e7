import { isList, type ListValue } from './values/collections.ts'
import type { Meter } from './values/meter.ts'
import { noSuchOverload, type Opaque, type Value } from './values/values.ts'

/** A function of the language: its receiver, if any, is the first argument. It returns an error value for undeclared arguments. */
export type Run = (meter: Meter, ...args: Value[]) => Value

/** Numbers of arguments, the receiver included. */
type Arity = number | readonly number[]

/** The implementation of a function for the numbers of arguments that it accepts. */
export interface Implementation {
  readonly arity: readonly number[]
  readonly run: Run
}

/** Implementations by the names of the functions. */
export type Implementations = Readonly<Record<string, Implementation>>

export function metered(arity: Arity, run: Run): Implementation {
  return { arity: typeof arity === 'number' ? [arity] : arity, run }
}

/** Like `metered`, for a function whose cost covers all its work. */
export function of(arity: Arity, run: (...args: Value[]) => Value): Implementation {
  return metered(arity, (_meter, a, b, c) => run(a, b, c))
}

/** A function of one text. */
export function onText(use: (text: string) => Value): Implementation {
  return of(1, (text) => (typeof text === 'string' ? use(text) : noSuchOverload()))
}

/** A function whose first argument is a list. */
export function onList(arity: Arity, use: (meter: Meter, list: ListValue, ...args: Value[]) => Value): Implementation {
  return metered(arity, (meter, list, a, b) => (isList(list) ? use(meter, list, a, b) : noSuchOverload()))
}

/** A function whose first argument is a value of a class. */
export function on<T extends Opaque>(
  Class: abstract new (...given: never[]) => T,
  use: (value: T, ...args: Value[]) => Value,
  arity: Arity = 1,
): Implementation {
  return of(arity, (value, a, b) => (value instanceof Class ? use(value, a, b) : noSuchOverload()))
}
