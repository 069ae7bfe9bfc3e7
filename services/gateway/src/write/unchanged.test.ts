import { type Catalogue, convert as convertVersion, createCatalogue, type Resource } from '@orch/core/catalogue'
import type { ApiObject, ManagedFieldsEntry } from '@orch/core/meta'
import type { Conversion } from '@orch/platform/conversion'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { LiveCatalogue } from '../custom-resources/live-catalogue.ts'
import { createServedResources, type Target } from '../target/target.ts'
import { encode, encodeByWebhook, previewChange, skipUnchanged, unchanged } from './commit.ts'
import { Draft } from './draft.ts'

const catalogue: Catalogue = createCatalogue('orch')
const resources = createServedResources(new LiveCatalogue(catalogue))
const plural = 'horizontalpodautoscalers'

function autoscalers(version: string): Resource {
  const resource = catalogue.find('autoscaling', version, plural)
  if (resource === undefined) throw new Error(`no resource ${plural}`)
  return resource
}

const forms = [autoscalers('v1'), autoscalers('v2')] as const
const storedVersion = forms[0].stored.version
const otherVersion = storedVersion === 'v1' ? 'v2' : 'v1'
const conversion = { definition: 'a.example.com', clientConfig: {}, reviewVersions: ['v1'] }

function targetOf(version: string, changes: Partial<Resource> = {}): Target {
  const served = resources.of({ ...autoscalers(version), ...changes })
  return {
    served,
    subresource: undefined,
    info: { namespace: 'n', name: 'a' },
    keyPrefix: `${served.resource.stored.prefix}/n/`,
  } as unknown as Target
}

/** Parts of a server whose storage has an entry or none, and the requests to them. */
function someParts(latest: { revision: number } | 'none' = { revision: 7 }) {
  const asked: unknown[] = []
  const parts = {
    names: catalogue.names,
    clock: createFakeClock(),
    pace: { turn: async () => void asked.push('turn') },
    storage: {
      async get({ key, read }: { key: string; read: { kind: string } }) {
        asked.push(`${read.kind} ${key.split('/').slice(-2).join('/')}`)
        return latest === 'none' ? {} : { entry: latest }
      },
    },
    converter: {
      async convert({ desiredApiVersion, objects, hasBigIntegers }: Conversion) {
        asked.push(desiredApiVersion)
        const to = forms.find(({ apiVersion }) => apiVersion === desiredApiVersion) ?? forms[0]
        const from = forms.find(({ apiVersion }) => apiVersion === objects[0]?.apiVersion) ?? forms[0]
        return {
          objects: objects.map((object) => convertVersion(structuredClone(object), { names: catalogue.names, from, to })),
          hasBigIntegers,
        }
      },
    },
  }
  return { asked, parts: parts as never }
}

const owner = (manager: string, time: string, fields: readonly string[] = ['f:maxReplicas']): ManagedFieldsEntry => ({
  manager,
  operation: 'Apply',
  apiVersion: 'autoscaling/v1',
  time,
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': Object.fromEntries(fields.map((field) => [field, {}])) },
})
const [before, now] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:09Z']

function anObject(version: string, managedFields?: ManagedFieldsEntry[], maxReplicas = 3): ApiObject {
  const metadata = { name: 'a', namespace: 'n', uid: 'u', ...(managedFields === undefined ? {} : { managedFields }) }
  const spec = { scaleTargetRef: { kind: 'Deployment', name: 'd' }, minReplicas: 1, maxReplicas }
  return { kind: 'HorizontalPodAutoscaler', apiVersion: `autoscaling/${version}`, metadata, spec }
}

const { time: _time, ...timeless } = owner('m', before)

function labelled(object: ApiObject, value: string): ApiObject {
  const { managedFields = [], ...metadata } = object.metadata
  return { ...object, metadata: { ...metadata, labels: { a: value }, managedFields } }
}

interface Change {
  readonly target?: Target
  readonly isApply?: boolean
  readonly isLarge?: boolean
}

/** A draft that changes one object, at revision 7, into another. */
async function aDraft(
  was: ApiObject,
  object: ApiObject,
  { target = targetOf(storedVersion), isApply = true, isLarge = false }: Change = {},
) {
  const request = { isLarge, deadlineMs: Number.MAX_SAFE_INTEGER, auditId: 'r', trace: undefined }
  const write = { request, target, name: 'a' }
  const { parts } = someParts()
  const draftOf = (one: ApiObject, value: Uint8Array) => {
    const live = { object: was, hasBigIntegers: false, entry: { key: 'k', revision: 7, value } }
    const owners = isApply ? { owners: one.metadata.managedFields ?? [] } : {}
    return new Draft(write as never, live as never, { object: one, hasBigIntegers: false, body: undefined, ...owners }) as never
  }
  const former = draftOf(structuredClone(was), new Uint8Array())
  await encode(former, parts)
  return draftOf(object, previewChange(former, parts)) as Draft<never>
}

/** The result of the step that ends a write without changes, and the requests to others on the way. */
async function skipped(draft: Draft<never>, latest?: { revision: number } | 'none') {
  const { asked, parts } = someParts(latest)
  await encode(draft, parts)
  asked.splice(0)
  await skipUnchanged(draft, parts)
  return { outcome: draft.outcome?.kind, asked }
}

test.each<[string, Target, string[], boolean]>([
  ['of the stored version, in none of them by a webhook', targetOf(storedVersion, { conversion }), [], false],
  ['of another version without a webhook', targetOf(otherVersion), [], false],
  ['of another version with a webhook, in both by it', targetOf(otherVersion, { conversion }), [`autoscaling/${storedVersion}`], true],
])(
  'an update encodes its object once, a create only an object that a webhook converts: an object %s',
  async (_which, target, calls, isByWebhook) => {
    for (const [step, isEncoded] of [
      [encode, true],
      [encodeByWebhook, isByWebhook],
    ] as const) {
      const object = anObject(target.served.resource.version)
      const draft = await aDraft(object, structuredClone(object), { target })
      const { asked, parts } = someParts()
      await step(draft, parts)
      expect(asked).toEqual(calls)
      expect(draft.encoding?.stored.apiVersion).toBe(isEncoded ? `autoscaling/${storedVersion}` : undefined)
      if (isEncoded) expect(draft.encoding?.stored).toMatchObject({ metadata: { name: 'a' }, spec: { maxReplicas: 3 } })
    }
  },
)

test('META-12: a write without changes ends if the object is current', async () => {
  const object = anObject(storedVersion)
  const draft = () => aDraft(object, structuredClone(object), { isApply: false })
  expect(await skipped(await draft())).toEqual({ outcome: 'unchanged', asked: ['latest n/a'] })
  expect(await skipped(await draft(), { revision: 8 })).toEqual({ outcome: 'again', asked: ['latest n/a'] })
  expect(await skipped(await draft(), 'none')).toEqual({ outcome: 'again', asked: ['latest n/a'] })
})

test('META-12: an apply that changes only the times of owners ends without a write, and an update continues', async () => {
  const was = anObject(storedVersion, [owner('m', before)])
  const later = () => anObject(storedVersion, [owner('m', now)])
  expect(await skipped(await aDraft(was, later()))).toEqual({ outcome: 'unchanged', asked: ['latest n/a'] })
  expect(await skipped(await aDraft(was, later(), { isLarge: true }))).toEqual({ outcome: 'unchanged', asked: ['turn', 'latest n/a'] })
  expect(await skipped(await aDraft(was, later()), { revision: 8 })).toEqual({ outcome: 'again', asked: ['latest n/a'] })
  expect(await skipped(await aDraft(was, later(), { isApply: false }))).toEqual({ outcome: undefined, asked: [] })
})

test.each<[string, ApiObject, ApiObject]>([
  ['a field and times', anObject(storedVersion, [owner('m', before)], 3), anObject(storedVersion, [owner('m', now)], 4)],
  ['a field of the same length', anObject(storedVersion, [owner('m', before)], 3), anObject(storedVersion, [owner('m', before)], 4)],
  ['the length', anObject(storedVersion, [owner('m', before)], 3), anObject(storedVersion, [owner('m', now)], 30)],
  ['the owners', anObject(storedVersion, [owner('m', before)]), anObject(storedVersion, [owner('n', now)])],
  [
    'what they own',
    anObject(storedVersion, [owner('m', before, ['f:maxReplicas'])]),
    anObject(storedVersion, [owner('m', now, ['f:minReplicas'])]),
  ],
  ['that it has owners', anObject(storedVersion, [owner('m', before)]), anObject(storedVersion)],
  ['that it had none', anObject(storedVersion), anObject(storedVersion, [owner('m', now)])],
  ['whether an owner has a time', anObject(storedVersion, [timeless]), anObject(storedVersion, [owner('m', now)])],
  [
    'the order of what an owner has',
    anObject(storedVersion, [owner('m', before, ['f:maxReplicas', 'f:minReplicas'])]),
    anObject(storedVersion, [owner('m', before, ['f:minReplicas', 'f:maxReplicas'])]),
  ],
  [
    'a label and times, which come after it',
    labelled(anObject(storedVersion, [owner('m', before)]), 'a'),
    labelled(anObject(storedVersion, [owner('m', now)]), 'b'),
  ],
])('META-12: an apply that changes %s is written', async (_what, was, object) => {
  expect(await skipped(await aDraft(was, object))).toEqual({ outcome: undefined, asked: [] })
})

test('META-12: an apply in another version than the stored version ends without a write if only times differ', async () => {
  const target = targetOf(otherVersion)
  const was = anObject(otherVersion, [owner('m', before)])
  const ended = await skipped(await aDraft(was, anObject(otherVersion, [owner('m', now)]), { target }))
  expect(ended).toEqual({ outcome: 'unchanged', asked: ['latest n/a'] })
  expect(await skipped(await aDraft(was, anObject(otherVersion, [owner('m', now)], 4), { target }))).toEqual({
    outcome: undefined,
    asked: [],
  })
})

test('META-12: an apply in a version that a webhook converts ends if only times differ, and the webhook is not called again', async () => {
  const target = targetOf(otherVersion, { conversion })
  const was = anObject(otherVersion, [owner('m', before)])
  expect(await skipped(await aDraft(was, anObject(otherVersion, [owner('m', now)]), { target }))).toEqual({
    outcome: 'unchanged',
    asked: ['latest n/a'],
  })
  const changed = anObject(otherVersion, [owner('m', now)], 4)
  expect(await skipped(await aDraft(was, changed, { target }))).toEqual({ outcome: undefined, asked: [] })
})

test('the answer to a write without changes is the stored object', () => {
  const value = Buffer.from('{}')
  const object = anObject(storedVersion)
  const live = { object, hasBigIntegers: false, entry: { key: 'k', revision: 7, value } }
  const { parts } = someParts()
  expect(unchanged(live as never, targetOf(storedVersion), parts)).toEqual({ kind: 'unchanged', json: value, uid: 'u' })
  const bare = { ...live, object: { ...object, metadata: { name: 'a' } } }
  expect(unchanged(bare as never, targetOf(storedVersion), parts).uid).toBe('')
  const byWebhook = { ...live, entry: { ...live.entry, fingerprint: 3 } }
  expect(unchanged(byWebhook as never, targetOf(otherVersion, { conversion }), parts)).toEqual({
    kind: 'unchanged',
    json: value,
    fingerprint: 3,
    uid: 'u',
  })
})
