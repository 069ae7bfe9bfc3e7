import type { ListPart } from '@orch/core/contracts'
import type { Served } from '../target/target.ts'
import type { CustomResources } from './custom-resources.ts'

/** The dependencies of recording definitions in answers. */
export interface ShownParts {
  readonly customResources: Pick<CustomResources, 'shown'>
}

/** True if the objects of a resource are definitions. */
export function areDefinitions({ strategy }: Served): boolean {
  return strategy.rules.definesResources === true
}

/** Records that a client sees an object, if it is a definition. */
export function noteShown(served: Served, revision: number, { customResources }: ShownParts): void {
  if (areDefinitions(served)) customResources.shown(revision)
}

/** A list of definitions, each of which is recorded. */
export async function* notingShown(listed: AsyncIterable<ListPart>, { customResources }: ShownParts): AsyncGenerator<ListPart> {
  for await (const part of listed) {
    if (part.kind === 'entries') for (const { revision } of part.entries) customResources.shown(revision)
    yield part
  }
}
