import type { Change, Facts, Scope, Selection } from '@orch/core/contracts'
import { memo } from '@orch/core/memo'
import { fieldsOfKey, isInKey, isInShards, matchesFields, matchesLabels } from '@orch/core/selectors'
import { uidInMetadata, uidInObject } from '@orch/core/stored'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** True if an object with this key and these facts is selected. */
export type Matches = (key: string, facts: Facts) => boolean

/** The event of a change for a subscriber that sees only selected objects; undefined for no event. */
export function eventTypeOf({ key, before, after }: Change, matches: Matches): EventType | undefined {
  const was = before !== undefined && matches(key, before.facts)
  const is = after !== undefined && matches(key, after.facts)
  if (is) return was ? 'MODIFIED' : 'ADDED'
  return was ? 'DELETED' : undefined
}

/** The predicate of a selection. It ignores the scope: callers ask only about changes inside it. */
export function matcherOf({ resource }: Scope, { labels, fields }: Selection): Matches {
  if (labels.length === 0 && fields.length === 0) return () => true
  const ofKey = fields.filter(isInKey)
  const ofFacts = fields.filter((requirement) => !isInKey(requirement))
  return (key, facts) =>
    (labels.length === 0 || matchesLabels(labels, facts.labels)) &&
    (ofFacts.length === 0 || matchesFields(ofFacts, facts.fields)) &&
    (ofKey.length === 0 || matchesFields(ofKey, fieldsOfKey(resource, key)))
}

/** A test for changes of objects in the shards; undefined if every object is. An object never changes its shard. */
export function shardTestOf({ resource }: Scope, { shards }: Selection): ((change: Change) => boolean) | undefined {
  if (shards === undefined) return undefined
  return (change) =>
    isInShards(shards, (field) => (field === 'uid' ? uidOf(change) : (fieldsOfKey(resource, change.key)['metadata.namespace'] ?? '')))
}

const emptyObject = Buffer.from('{}')

/** The uid of a changed object. */
const uidOf = memo((change: Change): string => {
  const { after, before } = change
  return after === undefined
    ? uidInObject(before?.value ?? emptyObject)
    : uidInMetadata(after.value.subarray(after.metadataStart, after.metadataEnd))
})
