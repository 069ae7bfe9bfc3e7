import { at } from '@orch/core/json'
import type { StoredObject } from './stored-object.ts'
import type { Tree } from './tree.ts'

/** All objects of a tree in key order. The tree must not change meanwhile: pass a fork. */
export function* objectsOf(tree: Tree): Generator<StoredObject, void, undefined> {
  for (const { objects, from, to } of tree.walk('', '\uffff')) for (let index = from; index < to; index++) yield at(objects, index)
}
