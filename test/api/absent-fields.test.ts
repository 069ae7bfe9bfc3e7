import { readFileSync } from 'node:fs'
import { createCatalogue } from '@orch/core/catalogue'
import { expect, test } from 'vitest'
import { type Answer, aNamespace, sharedApi } from './api.ts'
import { envelopeOf, sendRaw } from './raw.ts'
import { sampleFields, sampleName } from './sample-objects.ts'

/**
 * Answers of kube-apiserver 1.37.2 to dry-run creates of the sample objects that each lack one member: the fields that its validation requires differ
 * from the fields that its documents require. Kubernetes is Copyright The Kubernetes Authors and licensed under the
 * Apache License 2.0.
 */
interface Row {
  readonly kind: string
  readonly path: string
  /** The members and indices on the path to the missing member. */
  readonly without: string
  readonly status: number
  /** The fields that the causes of the refusal name. */
  readonly fields?: readonly string[]
}

const server = sharedApi({ controllers: [] })
const catalogue = createCatalogue('orch')

const rows: Row[] = readFileSync(new URL('cases/absent-fields.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

/** Fields that releases after 1.25 require or name differently. */
const newer = [
  // Before, kube-apiserver did not validate the template of a StatefulSet like a Pod, and the target of an autoscaler needed no version.
  /^StatefulSet spec(\.template.*)?$/,
  /^HorizontalPodAutoscaler spec(\.scaleTargetRef(\.apiVersion)?)?$/,
  // The first version was compared through the older field.
  /^CustomResourceDefinition spec(\.versions(\.0\.name)?)?$/,
]

const kinds = new Map<string, Row[]>()
for (const row of rows) kinds.set(row.path, [...(kinds.get(row.path) ?? []), row])

test.each([...kinds])('KIND-GEN-04: the optional fields at %s equal those of kube-apiserver', async (path, cases) => {
  const namespace = await aNamespace(server.api)
  const { kind } = cases[0]!
  const at = path.replace('/NS/', `/${namespace}/`)
  const apiVersion = at.replace(/^\/apis?\/(.*?)\/(namespaces\/.*|[^/]+)$/, '$1')
  const whole = {
    apiVersion,
    kind,
    metadata: { name: sampleName(kind) ?? 'a', namespace: at.includes('/namespaces/') ? namespace : undefined },
  }
  const given = { ...whole, ...sampleFields(kind, apiVersion, { domain: 'orch.io', namespace }) }
  const shown: Record<string, unknown> = {}
  const wanted: Record<string, unknown> = {}
  for (const { without, status, fields = [] } of cases) {
    if (newer.some((pattern) => pattern.test(`${kind} ${without}`))) continue
    const object = lacking(given, without.split('.'))
    const answers = [await server.api.post(`${at}?dryRun=All`, object), await postProtobuf({ at, apiVersion, kind }, object)]
    const forms = answers.filter((answer) => answer !== undefined)
    shown[without] = forms.map(outcome)
    wanted[without] = forms.map(() => ({ status, fields }))
  }
  expect(shown).toEqual(wanted)
})

function lacking(object: unknown, path: readonly string[]): unknown {
  const [name = '', ...rest] = path
  if (Array.isArray(object)) return object.map((item, index) => (index === Number(name) ? lacking(item, rest) : item))
  if (typeof object !== 'object' || object === null) return object
  const members = Object.entries(object)
  if (rest.length === 0) return Object.fromEntries(members.filter(([member]) => member !== name))
  return Object.fromEntries(members.map(([member, value]) => [member, member === name ? lacking(value, rest) : value]))
}

/** The same object as Protobuf, which leaves out an empty list; undefined: the kind has no Protobuf form. */
async function postProtobuf(
  { at, apiVersion, kind }: { at: string; apiVersion: string; kind: string },
  object: unknown,
): Promise<Pick<Answer, 'status' | 'body'> | undefined> {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  const resource = catalogue.resources.find((one) => one.group === group && one.version === version && one.kind === kind)
  const protobuf = resource?.readers.protobuf
  const decoded = resource?.readers.decode(object, { trackUnknown: false })
  if (protobuf === undefined || decoded?.kind !== 'decoded') return undefined
  const body = envelopeOf(apiVersion, kind, protobuf.encode(decoded.object))
  const headers = { 'content-type': 'application/vnd.orch.protobuf', accept: 'application/json' }
  const { status, bytes } = await sendRaw(server.api, 'POST', `${at}?dryRun=All`, { headers, body })
  return { status, body: JSON.parse(bytes.toString()) }
}

function outcome({ status, body }: Pick<Answer, 'status' | 'body'>): { status: number; fields: string[] } {
  const { causes = [] } = (body['details'] ?? {}) as { causes?: { field: string }[] }
  return { status, fields: [...new Set(causes.map(({ field }) => field))].sort() }
}
