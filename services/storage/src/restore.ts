import type { Commits, Rewrite } from './commits.ts'
import { restoredPerTurn } from './limits.ts'
import type { StoredObject } from './memory/stored-object.ts'
import type { Tree } from './memory/tree.ts'
import type { State } from './state.ts'

/** Restores the objects of an earlier tree by new writes: revisions continue. */
export async function restoreTree(target: Tree, state: State, commits: Commits): Promise<void> {
  // Commits that were requested before the restore are among the undone changes.
  await commits.settled()
  let writes = differences(state.tree.fork(), target)
  while (writes.length > 0) {
    const [some, later] = [writes.slice(0, restoredPerTurn), writes.slice(restoredPerTurn)]
    const outcomes = await commits.rewriteAll(some)
    for (const outcome of outcomes) if (outcome.kind === 'failed') throw outcome.error
    // A commit from before the restore may still be open.
    const open = some
      .filter((_, index) => outcomes[index]?.kind !== 'written')
      .map((write) => ({ ...write, expected: state.tree.get(write.key)?.revision ?? 0 }))
      .filter(({ object, expected }) => object !== undefined || expected !== 0)
    writes = [...later, ...open]
    if (later.length > 0) await new Promise((resolve) => setImmediate(resolve))
  }
}

/** The writes that turn a tree into another tree, in key order. Skips leaves that both share. */
function differences(current: Tree, target: Tree): Rewrite[] {
  const [leaves, wantedLeaves] = [leavesOf(current), leavesOf(target)]
  const [own, wanted] = [objectsWithout(leaves, wantedLeaves), objectsWithout(wantedLeaves, leaves)]
  const writes: Rewrite[] = []
  let next = 0
  for (const object of wanted) {
    const { key } = object
    let present = own[next]
    for (; present !== undefined && present.key < key; present = own[++next]) writes.push({ key: present.key, expected: present.revision })
    const expected = present?.key === key ? present.revision : 0
    if (expected !== 0) next++
    if (expected !== object.revision) writes.push({ key, object, expected })
  }
  for (const { key, revision } of own.slice(next)) writes.push({ key, expected: revision })
  return writes
}

type Leaves = ReadonlySet<readonly StoredObject[]>

function leavesOf(tree: Tree): Leaves {
  const leaves = new Set<readonly StoredObject[]>()
  for (const { objects } of tree.walk('', '\uffff')) leaves.add(objects)
  return leaves
}

function objectsWithout(leaves: Leaves, excluded: Leaves): StoredObject[] {
  return [...leaves].filter((leaf) => !excluded.has(leaf)).flat()
}
