import { createCatalogue, parseRuntimeConfigOf } from '@orch/core/catalogue'
import { type Node, resolveNode, resolveType, typeNameAt } from '@orch/core/schema'
import { describe, expect, test } from 'vitest'
import { aName, aNamespace, sharedApi } from './api.ts'
import { sendRaw } from './raw.ts'
import { sampleFields, sampleName } from './sample-objects.ts'

/** Objects must read as the test wrote them. Controllers would add a condition to a FlowSchema without a level, and a count to a quota. */
const controllers = [
  '*',
  '-flow-control',
  '-resourcequota',
  '-serviceaccount',
  '-root-ca-cert-publisher',
  '-validatingadmissionpolicy-status',
]
const newest = 37

/** Every version that a level can serve. */
const runtimeConfig = 'api/all=true'

describe.each([25, 29, 33, newest])('the kinds of 1.%d, with those that are off by default,', (level) => {
  const hasCbor = level >= 32
  const featureGates = hasCbor ? ['CBORServingAndStorage=true'] : []
  const server = sharedApi({ version: `1.${level}`, controllers, featureGates, runtimeConfig: [runtimeConfig] })
  const reading = parseRuntimeConfigOf('orch', runtimeConfig, level)
  const config = reading.kind === 'config' ? { runtimeConfig: reading.config } : {}
  const kinds = createCatalogue('orch', { minor: level, ...config }).resources.filter(
    ({ verbs }) => verbs.includes('create') && verbs.includes('update'),
  )

  const formats = ['application/vnd.orch.protobuf', 'application/yaml', ...(hasCbor ? ['application/cbor'] : [])]
  test(`PROTO-09, NEG-02…04, NEG-08, META-09, META-12: are unchanged after a GET and a PUT, in JSON and ${formats.join(', ')}`, async () => {
    const namespace = await aNamespace(server.api)
    const failures: string[] = []
    for (const resource of kinds) {
      const { base, object, name } = aSample(resource, namespace)
      const made = await server.api.post(base, object)
      const path = `${base}/${name ?? made.body.metadata?.name}`
      const before = (await server.api.get(path)).text
      for (const format of ['application/json', ...formats]) {
        const { bytes } = await sendRaw(server.api, 'GET', path, { headers: { accept: format } })
        const { status, bytes: after } = await sendRaw(server.api, 'PUT', path, { headers: { 'content-type': format }, body: bytes })
        // The revision is the same because the write changed nothing.
        if (status !== 200 || after.toString() !== before) failures.push(`${path} as ${format}: ${before} became ${status} ${after}`)
      }
      if (name !== undefined) await server.api.delete(path)
    }
    expect(failures).toEqual([])
    expect(kinds.length).toBeGreaterThan(50)
  })

  if (level < newest) {
    test('EMV-17: report fields of later levels under Strict and Warn, and never store them', async () => {
      const namespace = await aNamespace(server.api)
      let fieldCount = 0
      for (const resource of kinds) {
        const { base, object, name = aName('o') } = aSample(resource, namespace)
        const { type } = resource
        const unknown: string[] = []
        const body = withLaterFields(type, level, { ...object, metadata: { name } }, unknown)
        if (unknown.length === 0) continue
        fieldCount += unknown.length
        const send = (validation: string) => server.api.post(`${base}?fieldValidation=${validation}`, body)
        const [strict, ignored] = [await send('Strict'), await send('Ignore')]
        expect([strict.status, namesIn(strict.body['message'])]).toEqual([400, unknown])
        expect([ignored.status, namesIn(ignored.headers['warning'])]).toEqual([201, []])
        const stored = (await server.api.get(`${base}/${name}`)).text
        await server.api.delete(`${base}/${name}?gracePeriodSeconds=0&propagationPolicy=Background`)
        await expect.poll(async () => (await server.api.get(`${base}/${name}`)).status).toBe(404)
        const warned = await server.api.post(`${base}?fieldValidation=Warn&dryRun=All`, body)
        expect([warned.status, namesIn(warned.headers['warning'])]).toEqual([201, unknown])
        expect(stored).not.toContain(later)
      }
      expect(fieldCount).toBeGreaterThan(20)
    })
  }
})

/** A body without a name, for kinds that accept any name. */
function aSample({ apiVersion, kind, plural, isNamespaced }: Resource, namespace: string) {
  const fields = sampleFields(kind, apiVersion, { domain: 'orch.io', namespace })
  if (fields === undefined) throw new Error(`${apiVersion} ${kind} has no sample`)
  const name = sampleName(kind)
  const annotations = { 'example.com/note': 'ü' }
  const metadata = { ...(name === undefined ? { generateName: aName('o') } : { name }), labels: { zz: 'b', a: 'b' }, annotations }
  const base = `${apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`}${isNamespaced ? `/namespaces/${namespace}` : ''}/${plural}`
  return { base, name, object: { apiVersion, kind, metadata, ...fields } }
}

type Resource = ReturnType<typeof createCatalogue>['resources'][number]

const later = 'of a later level'

/** The value with all fields that the newest level has and this level lacks, in every object of the value. The function notes the paths of these fields. */
function withLaterFields(type: string, level: number, value: unknown, unknown: string[]): unknown {
  return filled(resolveType(typeNameAt(type, level)), resolveType(typeNameAt(type, newest)), value, '')

  function filled(older: Node, newer: Node, part: unknown, path: string): unknown {
    const [one, other] = [resolveNode(older), resolveNode(newer)]
    if (Array.isArray(part)) {
      if (one.kind !== 'list' || other.kind !== 'list') return part
      return part.map((item, index) => filled(one.items, other.items, item, `${path}[${index}]`))
    }
    if (typeof part !== 'object' || part === null || one.kind !== 'struct' || other.kind !== 'struct') return part
    const nodeOf = ({ fields }: typeof one, name: string) => fields.find((field) => field.name === name)?.node
    const members = Object.entries(part).map(([name, member]) => {
      const [before, now] = [nodeOf(one, name), nodeOf(other, name)]
      return [name, before === undefined || now === undefined ? member : filled(before, now, member, pathOf(path, name))]
    })
    const added = other.fields.filter(({ name }) => nodeOf(one, name) === undefined).map(({ name }) => name)
    unknown.push(...added.map((name) => pathOf(path, name)))
    return Object.fromEntries([...members, ...added.map((name) => [name, later])])
  }
}

const pathOf = (path: string, name: string) => (path === '' ? name : `${path}.${name}`)

function namesIn(text: unknown): string[] {
  return [...String(text).matchAll(/unknown field \\*"([^"\\]+)/g)].map(([, name = '']) => name)
}
