import type { SharedStore } from '@orch/core/contracts'
import { at } from '@orch/core/json'
import type { Revision } from '@orch/core/meta'
import type { StoredObject } from './memory/stored-object.ts'
import type { Tree } from './memory/tree.ts'

/** The state in memory. */
interface HeldState {
  readonly tree: Tree
  readonly unreadable: ReadonlyMap<string, { readonly revision: Revision }>
}

/** Compares memory with the store at the same revision, by keys and revisions only. */
export async function compareWithStore({ tree, unreadable }: HeldState, shared: SharedStore) {
  const held = tree.forkForReading()
  const changed: { key: string; revision: Revision }[] = []
  const there = new Set<string>()
  let known = 0
  const at = await shared.visitRevisions((key, revision) => {
    there.add(key)
    const object = held.get(key)
    if (object !== undefined) known += 1
    if ((object ?? unreadable.get(key))?.revision !== revision) changed.push({ key, revision })
  })
  // Objects are compared only if the store lacks one.
  if (known === held.size) return { changed, gone: [], revision: at }
  const gone: StoredObject[] = []
  for (const object of objectsOf(held)) if (!there.has(object.key)) gone.push(object)
  return {
    /** Keys whose records differ between the store and memory. */
    changed,
    /** Objects in memory that the store lacks. */
    gone,
    /** The store's revision at the read. */
    revision: at,
  }
}

/** All objects of a tree in key order. The tree must not change meanwhile: pass a fork. */
function* objectsOf(tree: Tree): Generator<StoredObject, void, undefined> {
  for (const { objects, from, to } of tree.walk('', '\uffff')) for (let index = from; index < to; index++) yield at(objects, index)
}
