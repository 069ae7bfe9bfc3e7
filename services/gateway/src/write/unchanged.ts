import { sameOwners } from '@orch/core/apply'
import type { ApiObject } from '@orch/core/meta'
import { isSame } from '@orch/core/validation'
import type { ConversionParts } from '../conversion/convert.ts'
import { pause } from '../request/pace.ts'
import type { Target } from '../target/target.ts'
import { type CommitParts, encodeStored, needsEncoding, previewChange, shownOf } from './commit.ts'
import type { ChangeDraft, WriteStep, Written } from './draft.ts'
import { type Live, latestRevision } from './live.ts'

/** Ends the write of an object that is as it was, unless what was read is old by now. */
export const skipUnchanged: WriteStep<CommitParts, ChangeDraft> = (draft, parts) => {
  // As in kube-apiserver, a write without a change is how an object is encrypted with a new key.
  if (draft.live.isStale === true && !draft.write.options.isDryRun) return
  const preview = previewChange(draft, parts)
  if (Buffer.compare(preview, draft.live.entry.value) === 0) return confirmUnchanged(draft, parts)
  if (draft.owners !== undefined) return skipOtherTimes(draft, preview, parts)
}

async function skipOtherTimes(draft: ChangeDraft, preview: Uint8Array, parts: CommitParts): Promise<void> {
  await pause(draft.write.request, parts)
  if (differsInTimesOnly(draft, preview, parts)) await confirmUnchanged(draft, parts)
}

async function confirmUnchanged(draft: ChangeDraft, parts: CommitParts): Promise<void> {
  const { live, write } = draft
  const latest = await latestRevision(`${write.target.keyPrefix}${write.name}`, write.request, parts)
  draft.outcome = latest === live.entry.revision ? unchanged(live, write.target, parts) : { kind: 'again' }
}

/** The outcome of a write that changes nothing. */
export function unchanged(live: Live, target: Target, parts: ConversionParts): Written {
  return { kind: 'unchanged', ...shownOf(live, target, parts), uid: live.object.metadata.uid ?? '' }
}

/** An apply may have given a value in other words, such as `1000m` for `1`: then the object is as it was but for its owners' times. */
function differsInTimesOnly(draft: ChangeDraft, preview: Uint8Array, parts: CommitParts): boolean {
  const { write, live, object, hasBigIntegers } = draft
  const { metadata } = object
  const { value } = live.entry
  // Times are all of one length.
  if (preview.length !== value.length || metadata.managedFields === undefined) return false
  if (write.target.served.isStoredVersion && !isSame(withoutOwners(object), withoutOwners(live.object))) return false
  if (!endsDifferingInTime(preview, value)) return false
  const { managedFields = [] } = live.object.metadata
  if (!sameOwners(metadata.managedFields, managedFields)) return false
  // A conversion by a webhook leaves the owners as they are, and need not be made again.
  const converted = needsEncoding(draft) ? draft.encoding?.stored : undefined
  const former = converted ?? object
  const withFormerTimes = { ...former, metadata: { ...former.metadata, managedFields } }
  const encoding = converted === undefined ? undefined : encodeStored(write.target, { object: withFormerTimes, hasBigIntegers })
  const withTimes = previewChange({ write, live, hasBigIntegers, object: withFormerTimes, encoding }, parts)
  return Buffer.compare(withTimes, value) === 0
}

/** All that bytes of the same length may still differ in. */
function withoutOwners({ metadata, ...rest }: ApiObject): object {
  const { managedFields: _managedFields, resourceVersion: _resourceVersion, ...own } = metadata
  return { ...rest, metadata: own }
}

/** Whether the last byte in which two texts differ is one of a time; most changes end elsewhere, and need no closer look. */
function endsDifferingInTime(left: Uint8Array, right: Uint8Array): boolean {
  let last = left.length - 1
  while (last >= 0 && left[last] === right[last]) last--
  const label = '"time":"'
  const before = Buffer.from(left.subarray(Math.max(0, last - label.length - timeLength), Math.max(0, last))).toString('latin1')
  return before.includes(label)
}

/** Characters of a time such as `2006-01-02T15:04:05Z`. */
const timeLength = 20
