import { everything, type Scope, type Selection } from '../selectors/selection.ts'
import type { CallContext } from './contract.ts'
import type { Entry, Freshness, StorageService } from './storage.ts'

interface ListEntriesOptions {
  readonly selection?: Selection
  readonly read?: Freshness
  readonly context?: CallContext
}

/** The entries of a scope, page by page as storage sends them. Default: all entries of the latest state. */
export async function* listEntries(
  storage: Pick<StorageService, 'list'>,
  scope: Scope,
  { selection = everything, read = { kind: 'latest' }, context }: ListEntriesOptions = {},
): AsyncGenerator<readonly Entry[]> {
  const request = { scope, selection, read, limit: 0, start: '', layout: 'entries' } as const
  for await (const part of storage.list(request, context)) if (part.kind === 'entries') yield part.entries
}
