import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { type Body, created, sharedApi } from '../api/api.ts'

interface Step {
  readonly method: string
  readonly path: string
  readonly contentType?: string
  readonly body?: unknown
  /** The resourceVersion of the answer is also that of the following bodies. */
  readonly save?: string
  readonly expect: { readonly code: number; readonly body?: Body }
}

interface Sequence {
  readonly name: string
  readonly steps: readonly Step[]
}

const [head = '', ...lines] = readFileSync(new URL('applies.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
const { schemas } = JSON.parse(head) as { readonly schemas: Readonly<Record<string, object>> }
const sequences = lines.map((line) => JSON.parse(line) as Sequence)

/** kube-apiserver answers an unknown field with a 500 without a reason, although the client made the mistake. */
const refusedAsMistake = new Set(['TestPreserveUnknownFields-1'])

const server = sharedApi({ profile: 'kubernetes', controllers: [] })

beforeAll(async () => {
  for (const [plural, spec] of Object.entries(schemas)) {
    const kind = `${plural.charAt(0).toUpperCase()}${plural.slice(1, -1)}`
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
    const versions = ['v1', 'v2', 'v3', 'v4'].map((name, index) => ({ name, served: true, storage: index === 0, schema }))
    await created(server.api, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.ssa.example.com` },
      spec: { group: 'ssa.example.com', scope: 'Namespaced', names: { plural, kind }, versions },
    })
  }
})

const wildcards = new Set<unknown>(['<rv>', '<uid>', '<time>'])

/** An answer in comparable form: with wildcards where the recorded answer has wildcards, and without the order of a Go map. */
function comparable(recorded: unknown, given: unknown): unknown {
  if (wildcards.has(recorded)) return typeof given === 'string' ? recorded : given
  if (Array.isArray(given) && Array.isArray(recorded)) return given.map((item, index) => comparable(recorded[index], item))
  if (typeof given !== 'object' || given === null) return given
  const from = typeof recorded === 'object' && recorded !== null ? (recorded as Record<string, unknown>) : {}
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, comparable(from[name], value)]))
}

/** Sorts owners by manager, and causes (also in the message) by their texts. */
function sorted(body: Body): Body {
  const byText = (items: readonly unknown[]) => [...items].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  const { managedFields } = body.metadata ?? {}
  if (Array.isArray(managedFields)) {
    const owners = managedFields as readonly { manager: string; operation: string; apiVersion: string }[]
    const key = ({ manager, operation, apiVersion }: (typeof owners)[number]) => [manager, operation, apiVersion].join()
    return { ...body, metadata: { ...body.metadata, managedFields: [...owners].sort((a, b) => (key(a) < key(b) ? -1 : 1)) } }
  }
  const details = body['details'] as { readonly causes?: readonly unknown[] } | undefined
  if (details?.causes === undefined) return body
  const message = String(body['message']).replace(/\[(.*)\]/, (_text, list: string) => byText(list.split(', ')).join(', '))
  return { ...body, message, details: { ...details, causes: byText(details.causes) } }
}

test.each(sequences)('the answers to a sequence of writes equal those of kube-apiserver: $name', async ({ name, steps }) => {
  let saved = ''
  for (const { method, path, contentType = 'application/json', body, save, expect: wanted } of steps) {
    const text = body === undefined ? undefined : JSON.stringify(body).replaceAll('{{rv}}', saved)
    const answer = await server.api.send(method, path, { body: text, headers: { 'content-type': contentType } })
    if (save !== undefined) saved = answer.body.metadata.resourceVersion
    if (refusedAsMistake.has(name) && wanted.code === 500) {
      expect([answer.status, answer.body['message']]).toEqual([400, wanted.body?.['message']])
      continue
    }
    expect(answer.status).toBe(wanted.code)
    if (wanted.body === undefined) continue
    const recorded = sorted(wanted.body)
    expect(comparable(recorded, sorted(answer.body))).toEqual(recorded)
  }
})
