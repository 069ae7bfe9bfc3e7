import { start } from 'orch'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { definitionOf, hostileRules, requestOf } from './stalls/hostile-rules.ts'
import type { Heavy } from './stalls/requests.ts'

let server: Awaited<ReturnType<typeof start>>
beforeAll(async () => {
  server = await start({ controllers: [] })
})
afterAll(() => server.stop())

async function send({
  method,
  path,
  body = '',
  headers = { 'content-type': 'application/json' },
}: Heavy): Promise<{ readonly code: number; readonly text: string }> {
  const response = await server.client.transport.send({ method, path, headers, body })
  let text = ''
  for await (const chunk of response.body) text += Buffer.from(chunk).toString()
  return { code: response.status, text }
}

test.each(hostileRules.map((rule) => [rule.name, rule] as const))('%s is answered with its error', async (_, rule) => {
  if (rule.object !== undefined) expect(await send(definitionOf(rule))).toMatchObject({ code: 201 })
  const { code, text } = await send(requestOf(rule))
  expect({ code, text: code === rule.code ? '' : text.slice(0, 500) }).toEqual({ code: rule.code, text: '' })
  if (rule.message !== undefined) expect(JSON.parse(text).message).toContain(rule.message)
})

test('LIM-12: an object is deleted though later defaults would add more than 100,000 values', async () => {
  const group = 'full.example.com'
  const path = `/apis/${group}/v1/things/a`
  const schema = (fields: object) => () => ({
    type: 'object',
    properties: { l: { type: 'array', items: { type: 'object', properties: fields } } },
  })
  const definition = (fields: object) => definitionOf({ name: 'defaults', group, schema: schema(fields), code: 201 })
  expect(await send(definition({}))).toMatchObject({ code: 201 })
  const body = {
    apiVersion: `${group}/v1`,
    kind: 'Thing',
    metadata: { name: 'a', finalizers: ['example.com/f'] },
    spec: { l: Array(1_100).fill({}) },
  }
  await expect
    .poll(async () => (await send({ method: 'POST', path: `/apis/${group}/v1/things`, body: JSON.stringify(body) })).code)
    .toBe(201)
  const defaulted = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`d${index}`, { type: 'integer', default: 1 }]))
  const { path: definitions, body: changed = '' } = definition(defaulted)
  const merge = { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' } }
  expect(await send({ ...merge, path: `${definitions}/things.${group}`, body: changed })).toMatchObject({ code: 200 })
  const another = JSON.stringify({ ...body, metadata: { name: 'b' } })
  await expect.poll(async () => (await send({ method: 'POST', path: `/apis/${group}/v1/things?dryRun=All`, body: another })).code).toBe(400)
  expect(await send({ method: 'DELETE', path })).toMatchObject({ code: 200 })
  const { metadata, ...rest } = JSON.parse((await send({ method: 'GET', path })).text)
  expect(
    await send({ method: 'PUT', path: `${path}?dryRun=All`, body: JSON.stringify({ ...rest, metadata: { ...metadata, finalizers: [] } }) }),
  ).toMatchObject({ code: 200 })
  expect(await send({ ...merge, path, body: '{"metadata":{"finalizers":null}}' })).toMatchObject({ code: 200 })
  expect(await send({ method: 'GET', path })).toMatchObject({ code: 404 })
})
