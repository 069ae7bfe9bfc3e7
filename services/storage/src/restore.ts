import type { Commits, Rewrite } from './commits.ts'
import type { StoredObject } from './memory/stored-object.ts'
import type { Tree } from './memory/tree.ts'
import type { State } from './state.ts'

/** Restores the objects of an earlier tree by new writes: revisions continue. */
export async function restoreTree(target: Tree, state: State, commits: Commits): Promise<void> {
  // Commits that were requested before the restore are among the undone changes.
  await commits.settled()
  let writes = differences(state.tree.fork(), target)
  while (writes.length > 0) {
    const outcomes = await commits.rewriteAll(writes)
    // A commit from before the restore may still be open.
    writes = writes
      .filter((_, index) => outcomes[index]?.kind !== 'written')
      .map((write) => ({ ...write, expected: state.tree.get(write.key)?.revision ?? 0 }))
      .filter(({ object, expected }) => object !== undefined || expected !== 0)
  }
}

/** The writes that turn a tree into another tree. Skips leaves that both share. */
function differences(current: Tree, target: Tree): Rewrite[] {
  const [own, wanted] = [leavesOf(current), leavesOf(target)]
  const writes: Rewrite[] = []
  for (const objects of own) {
    if (wanted.has(objects)) continue
    for (const { key, revision } of objects) if (target.get(key) === undefined) writes.push({ key, expected: revision })
  }
  for (const objects of wanted) {
    if (own.has(objects)) continue
    for (const object of objects) {
      const expected = current.get(object.key)?.revision ?? 0
      if (expected !== object.revision) writes.push({ key: object.key, object, expected })
    }
  }
  return writes
}

function leavesOf(tree: Tree): Set<readonly StoredObject[]> {
  const leaves = new Set<readonly StoredObject[]>()
  for (const { objects } of tree.walk('', '\uffff')) leaves.add(objects)
  return leaves
}
