import type { Catalogue, Group } from '@orch/core/catalogue'
import { aggregatedDocument, apiGroupListDocument } from '@orch/core/discovery'
import { memo } from '@orch/core/memo'

/** `/apis` as JSON. The entry of a group is printed once while the group is unchanged. */
export const groupListBytes = memo((catalogue: Catalogue) => joined(catalogue.groups, apiGroupListDocument([]), entryOf))

/** The aggregated form of `/apis` as JSON, made as `groupListBytes`. */
export const aggregatedBytes = memo((catalogue: Catalogue) =>
  joined(catalogue.groups, aggregated(catalogue, []), (group) => itemOf(group, catalogue)),
)

/** The entry of a group in the list of groups. */
const entryOf = memo((group: Group) => printed(apiGroupListDocument([group]).groups[0]))

/** The entry of a group in the aggregated form. */
const itemOf = memo((group: Group, catalogue: Catalogue) => printed(aggregated(catalogue, [group]).items[0]))

function aggregated(catalogue: Catalogue, groups: readonly Group[]) {
  return aggregatedDocument(catalogue, groups, (group, one) => catalogue.inGroupVersion(group, one))
}

function printed(entry: object | undefined): Uint8Array {
  return Buffer.from(JSON.stringify(entry))
}

const comma = Buffer.from(',')
const back = Buffer.from(']}')

/** A document that ends with a list, with one piece for each group. */
function joined(groups: readonly Group[], empty: object, pieceOf: (group: Group) => Uint8Array): Uint8Array {
  const front = Buffer.from(JSON.stringify(empty).slice(0, -back.length))
  return Buffer.concat([front, ...groups.flatMap((group, index) => (index === 0 ? [pieceOf(group)] : [comma, pieceOf(group)])), back])
}
