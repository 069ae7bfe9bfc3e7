import { start } from 'orch'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { definitionOf, hostileRules, requestOf } from './stalls/hostile-rules.ts'
import type { Heavy } from './stalls/requests.ts'

let server: Awaited<ReturnType<typeof start>>
beforeAll(async () => {
  server = await start({ controllers: [] })
})
afterAll(() => server.stop())

async function send({ method, path, body = '' }: Heavy): Promise<{ readonly code: number; readonly text: string }> {
  const headers = { 'content-type': 'application/json' }
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
