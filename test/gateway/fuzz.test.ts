import { fc } from '@orch/testkit/chance'
import { type RunningServer, start } from 'orch'
import { afterAll, beforeAll, expect, test } from 'vitest'

let server: RunningServer

beforeAll(async () => {
  server = await start({ controllers: [] })
})
afterAll(() => server.stop())

const cases = 600

/** Words that lead deep into the server, among words that lead nowhere. */
const segment = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      'api',
      'apis',
      'v1',
      'apps',
      'namespaces',
      'default',
      'configmaps',
      'pods',
      'services',
      'nodes',
      'a',
      'status',
      'finalize',
      'deployments',
      'openapi',
      'v2',
      'v3',
      'healthz',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('..', '.', '', '%00', '%2F', '%zz', '%E0%A4', '%25', '~', 'x'.repeat(300), '__proto__', 'constructor'),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 12 }).map(encodeURIComponent) },
)
const path = fc.oneof(
  fc.constantFrom(
    '/api/v1/namespaces/default/configmaps',
    '/api/v1/namespaces/default/configmaps/a',
    '/api/v1/namespaces/default/services',
    '/api/v1/nodes/a',
    '/api/v1/namespaces/default/pods/a/status',
  ),
  fc.array(segment, { maxLength: 9 }).map((segments) => `/${segments.join('/')}`),
)
const parameter = fc.tuple(
  fc.constantFrom(
    'limit',
    'continue',
    'labelSelector',
    'fieldSelector',
    'resourceVersion',
    'resourceVersionMatch',
    'dryRun',
    'fieldValidation',
    'fieldManager',
    'pretty',
    'timeoutSeconds',
    'propagationPolicy',
    'gracePeriodSeconds',
    'timeout',
    'force',
    '__proto__',
  ),
  fc.oneof(
    fc.constantFrom(
      '',
      '0',
      '1',
      '-1',
      'abc',
      'All',
      'Strict',
      'Exact',
      'NotOlderThan',
      'a=b',
      'a in (b,c)',
      'metadata.name=a',
      '99999999999999999999',
      '1h',
    ),
    fc.string({ maxLength: 20 }),
  ),
)
const query = fc
  .array(parameter, { maxLength: 4 })
  .map((pairs) => pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&'))
const metadata = fc.record(
  {
    name: fc.constantFrom('a', 'b', '', 'A B'),
    labels: fc.anything(),
    annotations: fc.dictionary(fc.string(), fc.string()),
    finalizers: fc.anything(),
    resourceVersion: fc.anything(),
  },
  { requiredKeys: [] },
)
const object = fc.record(
  {
    kind: fc.constantFrom('ConfigMap', 'Service', 'Node', 'Pod', 'DeleteOptions', 7),
    apiVersion: fc.constantFrom('v1', 'apps/v1', null),
    metadata,
    data: fc.anything(),
    spec: fc.anything(),
    status: fc.anything(),
  },
  { requiredKeys: [] },
)
const body = fc.oneof(
  fc.constant(undefined),
  fc.string(),
  fc
    .oneof(
      object,
      fc.array(
        fc.record(
          { op: fc.constantFrom('add', 'remove', 'replace', 'test', 'move', 'copy', 'x'), path: fc.string(), value: fc.anything() },
          { requiredKeys: [] },
        ),
      ),
      fc.jsonValue(),
    )
    .map((value) => JSON.stringify(value) ?? ''),
)
const request = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
  path,
  query,
  body,
  type: fc.constantFrom(
    'application/json',
    'application/yaml',
    'application/json-patch+json',
    'application/merge-patch+json',
    'text/plain',
    'application/json; charset=utf-8',
    '',
  ),
  accept: fc.constantFrom(
    'application/json',
    '*/*',
    'application/yaml',
    'text/html',
    'application/json;as=Table;v=v1;g=meta.orch.io',
    ';;;,,=',
  ),
})

/** Codes that say that the client has erred, or that all is well; a verb that is not built; and a version of the future or a time of its own that is too short. */
const honest = (status: number, text: string, query: string) =>
  (status >= 200 && status < 500) ||
  status === 501 ||
  (status === 504 && (text.includes('Too large resource version') || query.includes('timeout=')))

test('LIM-12: whatever is sent, the server answers as to a client’s mistake and lives on', async () => {
  await fc.assert(
    fc.asyncProperty(request, async (one) => {
      const target = one.query === '' ? one.path : `${one.path}?${one.query}`
      const headers = { accept: one.accept, ...(one.type === '' ? {} : { 'content-type': one.type }) }
      const isWithBody = one.body !== undefined && one.method !== 'GET' && one.method !== 'HEAD'
      const response = await server.client.transport.send({
        method: one.method,
        path: target,
        headers,
        ...(isWithBody ? { body: one.body as string } : {}),
      })
      let text = ''
      for await (const chunk of response.body) text += Buffer.from(chunk).toString()
      expect(honest(response.status, text, one.query), `${one.method} ${target} → ${response.status} ${text.slice(0, 500)}`).toBe(true)
    }),
    { numRuns: cases, endOnFailure: false },
  )
  const ready = await server.client.transport.send({ method: 'GET', path: '/readyz', headers: {} })
  expect(ready.status).toBe(200)
  for await (const _ of ready.body);
})
