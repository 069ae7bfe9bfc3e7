import type { Preparable } from '@orch/core/catalogue'
import type { ListPart } from '@orch/core/contracts'
import type { Served } from '../target/target.ts'
import type { SchemaParts } from './schema-budget.ts'

/** Runs work on a custom resource once its readers are prepared, and holds them until the work is done. */
export async function withReaders(served: Served, parts: SchemaParts, work: () => void | Promise<void>): Promise<void> {
  const releases = neededBy(served).map((one) => parts.schemas.hold(one))
  try {
    await readyReaders(served, parts)
    await work()
  } finally {
    for (const release of releases) release()
  }
}

/** Prepares the readers of a resource; undefined if they are ready, or not needed. */
export function readyReaders(served: Served, parts: SchemaParts): Promise<void> | undefined {
  if (served.resource.readers.preparable === undefined) return undefined
  return neededBy(served).every(({ isReady }) => isReady) ? undefined : prepareAll(served, parts)
}

/** Parts of a list, whose first object waits for the readers of its resource. */
export async function* withReadyReaders(listed: AsyncIterable<ListPart>, served: Served, parts: SchemaParts): AsyncGenerator<ListPart> {
  for await (const part of listed) {
    if (part.kind === 'entries' && part.entries.length > 0) await readyReaders(served, parts)
    yield part
  }
}

async function prepareAll(served: Served, { schemas, pace }: SchemaParts): Promise<void> {
  for (const one of neededBy(served)) await schemas.prepare(one, pace)
}

function neededBy({ resource }: Served): Preparable[] {
  // Both are the same object for the stored version.
  return [...new Set([resource.readers, resource.stored.readers])].flatMap(({ preparable }) => preparable ?? [])
}
