import type { Catalogue, Group } from '@orch/core/catalogue'
import { aggregatedDocument, apiGroupListDocument } from '@orch/core/discovery'

const files = new WeakMap<Catalogue, Map<string, Uint8Array>>()

/** `/apis` as JSON. The entry of a group is printed once for each state of the group. */
export function groupListBytes(catalogue: Catalogue): Uint8Array {
  return kept(catalogue, 'groups', () => joined(catalogue.groups, apiGroupListDocument([]), entryOf))
}

/** The aggregated form of `/apis` as JSON, made as `groupListBytes`. */
export function aggregatedBytes(catalogue: Catalogue): Uint8Array {
  const print = (groups: readonly Group[]) =>
    aggregatedDocument(catalogue.names, groups, (group, one) => catalogue.inGroupVersion(group, one))
  return kept(catalogue, 'aggregated', () => joined(catalogue.groups, print([]), (group) => itemOf(group, () => print([group]).items[0])))
}

function kept(catalogue: Catalogue, name: string, make: () => Uint8Array): Uint8Array {
  const ofCatalogue = files.get(catalogue) ?? new Map<string, Uint8Array>()
  files.set(catalogue, ofCatalogue)
  const known = ofCatalogue.get(name) ?? make()
  ofCatalogue.set(name, known)
  return known
}

const comma = Buffer.from(',')
const back = Buffer.from(']}')

/** A document whose last member is a list, with a piece for each group in it. */
function joined(groups: readonly Group[], empty: object, pieceOf: (group: Group) => Uint8Array): Uint8Array {
  const front = Buffer.from(JSON.stringify(empty).slice(0, -back.length))
  return Buffer.concat([front, ...groups.flatMap((group, index) => (index === 0 ? [pieceOf(group)] : [comma, pieceOf(group)])), back])
}

const entries = new WeakMap<Group, Uint8Array>()

function entryOf(group: Group): Uint8Array {
  return printedOnce(entries, group, () => apiGroupListDocument([group]).groups[0])
}

const items = new WeakMap<Group, Uint8Array>()

function itemOf(group: Group, make: () => object | undefined): Uint8Array {
  return printedOnce(items, group, make)
}

function printedOnce(known: WeakMap<Group, Uint8Array>, group: Group, make: () => object | undefined): Uint8Array {
  const bytes = known.get(group) ?? Buffer.from(JSON.stringify(make()))
  known.set(group, bytes)
  return bytes
}
