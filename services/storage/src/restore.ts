import type { CommitOutcome } from '@orch/core/contracts'
import type { Commits } from './commits.ts'
import { objectsOf } from './memory/objects.ts'
import type { StoredObject } from './memory/stored-object.ts'
import type { Tree } from './memory/tree.ts'
import type { State } from './state.ts'

/** Restores the objects of an earlier tree, as new writes: revisions continue. */
export async function restoreTree(target: Tree, state: State, commits: Commits): Promise<void> {
  // Commits that were requested before it are part of the undone changes.
  await commits.settled()
  const current = state.tree.fork()
  const writes: Promise<void>[] = []
  for (const { key } of objectsOf(current)) if (target.get(key) === undefined) writes.push(remove(key, state, commits))
  for (const object of objectsOf(target)) {
    const now = current.get(object.key)
    if (now === undefined || now.revision !== object.revision) writes.push(rewrite(object, state, commits))
  }
  await Promise.all(writes)
}

/** Replaces any object: a commit from before the restore may still be open. */
async function rewrite(object: StoredObject, state: State, commits: Commits): Promise<void> {
  let outcome: CommitOutcome
  do outcome = await commits.writeAgain(object, state.tree.get(object.key)?.revision ?? 0)
  while (outcome.kind !== 'written')
}

async function remove(key: string, state: State, commits: Commits): Promise<void> {
  for (let live = state.tree.get(key); live !== undefined; live = state.tree.get(key)) {
    const outcome = await commits.remove(key, live.revision)
    if (outcome.kind === 'written') return
  }
}
