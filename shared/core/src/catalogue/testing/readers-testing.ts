import { boundedMemo } from '@orch/cel/memo'
import { type IsGateOn, knownReleases, parseFeatureGates } from '../../feature-gates.ts'
import type { Draft } from '../../kind/draft.ts'
import type { KindReaders, ValidationCandidate } from '../../kind/kind-readers.ts'
import { textAt } from '../../meta/level-text.ts'
import type { FieldError } from '../../meta/status.ts'
import type { Names } from '../../names.ts'
import { runAtOnce } from '../../steps.ts'
import type { Part } from '../../validation/part.ts'
import { BuiltInReaders } from '../built-in-readers.ts'
import { createCatalogue, parseRuntimeConfigOf } from '../catalogue.ts'

/** The readers of a type at a level, with the rules of its built-in kind if it has one. */
function readersOf(type: string, level: number = knownReleases.own): KindReaders {
  return readersAt(level).get(type) ?? new BuiltInReaders(type, {}, level)
}

/** Number of levels whose readers are cached. */
const levelsMax = 64

/** The readers of the built-in kinds of a level, by type, with those that are off by default. */
const readersAt = boundedMemo(levelsMax, (level: number): ReadonlyMap<string, KindReaders> => {
  const all = parseRuntimeConfigOf('orch', 'api/all=true', level)
  const { resources } = createCatalogue('orch', { minor: level, ...(all.kind === 'config' ? { runtimeConfig: all.config } : {}) })
  const described = resources.flatMap((resource) => [resource, ...resource.subresources])
  return new Map(described.map(({ type, readers }) => [type, readers]))
})

/** Fills in the defaults of an object of a type, with the level's default gates. */
export function applyDefaults(
  type: string,
  object: Draft,
  names: Names,
  { level = knownReleases.own, isGateOn = gatesOf(level) }: { readonly level?: number; readonly isGateOn?: IsGateOn } = {},
): void {
  readersOf(type, level).applyDefaults?.(object, names, isGateOn)
}

/** The gates of a level with their defaults. */
export const gatesOf = boundedMemo(levelsMax, (level: number): IsGateOn => {
  const gates = parseFeatureGates([], level)
  if (gates.kind === 'refused') throw new Error(gates.message)
  return gates.isOn
})

/** The errors of an object of a type in the words of the level, with the level's default gates. */
export function validateObject({
  type,
  level = knownReleases.own,
  ...candidate
}: {
  readonly type: string
  readonly isGateOn?: IsGateOn
  readonly level?: number
} & Omit<ValidationCandidate, 'isGateOn' | 'level'>): (FieldError & { readonly message: string })[] {
  const errors = runAtOnce(readersOf(type, level).validate({ isGateOn: gatesOf(level), level, ...candidate }))
  return errors.map((error) => ({ ...error, message: textAt(error.message, level) }))
}

/** The warnings about an object of a type. */
export function warningsOf(type: string, object: Part, live: Part | undefined, names: Names): readonly string[] {
  return warningsAt(knownReleases.own, { type, names }, object, live)
}

/** Like `warningsOf`, at a level. */
export function warningsAt(level: number, { type, names }: { type: string; names: Names }, object: Part, live?: Part): readonly string[] {
  return readersOf(type, level).warnings?.(object, live, names, gatesOf(level)) ?? []
}
