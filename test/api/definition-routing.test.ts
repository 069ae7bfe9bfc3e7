import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { aDefinition } from '../definition.ts'
import { aName, created, sharedApi } from './api.ts'

const server = sharedApi({ profile: 'kubernetes' })

interface RoutingCase {
  readonly name: string
  readonly path: string
  readonly hasSynced: boolean
  readonly expectStatus: number
}

const [, ...lines] = readFileSync(new URL('cases/routing.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const cases = lines.map((line) => JSON.parse(line) as RoutingCase)

/** The server answers the cases so when it leaves the request to the next server in the chain. */
const notOurs = 418

// A gateway accepts requests only after it serves all stored definitions, so no request comes earlier.
test.each(cases.filter(({ hasSynced }) => hasSynced))('CRD-64, CRD-71: $name', async ({ path, expectStatus }) => {
  const group = `${aName('g')}.example.com`
  await created(
    server.api,
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    aDefinition({ domain: 'k8s.io', group, plural: 'bars', kind: 'Bar', scope: 'Cluster' }),
  )
  const { status } = await server.api.get(path.replace('custom', group))
  expect(status).toBe(expectStatus === notOurs ? 404 : expectStatus)
})
