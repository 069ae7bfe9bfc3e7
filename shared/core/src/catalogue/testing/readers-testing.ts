import { gatesByDefault, type IsGateOn } from '../../feature-gates.ts'
import type { Draft } from '../../kind/draft.ts'
import type { KindReaders, ValidationCandidate } from '../../kind/kind-readers.ts'
import type { FieldError } from '../../meta/status.ts'
import type { Names } from '../../names.ts'
import { runAtOnce } from '../../steps.ts'
import type { Part } from '../../validation/part.ts'
import { BuiltInReaders } from '../built-in-readers.ts'
import { createCatalogue } from '../catalogue.ts'

const catalogue = createCatalogue('orch')
const described = catalogue.resources.flatMap((resource) => [resource, ...resource.subresources])
const byType = new Map(described.map(({ type, readers }) => [type, readers]))

/** The readers of a type: those of a built-in kind where it is the type of one. */
function readersOf(type: string): KindReaders {
  return byType.get(type) ?? new BuiltInReaders(type)
}

/** Completes an object of a type; gates are as they are by default. */
export function applyDefaults(type: string, object: Draft, names: Names, isGateOn: IsGateOn = gatesByDefault): void {
  readersOf(type).applyDefaults?.(object, names, isGateOn)
}

/** The errors of an object of a type; gates have their defaults. */
export function validateObject({
  type,
  ...candidate
}: { readonly type: string; readonly isGateOn?: IsGateOn } & Omit<ValidationCandidate, 'isGateOn'>): FieldError[] {
  return runAtOnce(readersOf(type).validate({ isGateOn: gatesByDefault, ...candidate }))
}

/** The warnings for the writer of an object of a type. */
export function warningsOf(type: string, object: Part, live: Part | undefined, names: Names): readonly string[] {
  return readersOf(type).warnings?.(object, live, names) ?? []
}
