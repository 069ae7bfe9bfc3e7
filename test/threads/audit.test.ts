import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { canSharePorts } from '../../services/gateway/src/index.ts'
import { aFolder, aPolicy, readEvents, type WrittenEvent } from '../audit/audited.ts'
import { aFolder as aFileFolder } from '../identity/folder.ts'
import { aWebhookFile } from '../identity/webhook.ts'
import { type Connection, startThreaded, textOf } from './threaded-server.ts'

const maps = '/api/v1/namespaces/default/configmaps'
/** Audits only the tests' requests, because controllers also write ConfigMaps. */
const ofTests = { users: ['orch-admin'], resources: [{ group: '', resources: ['configmaps'] }] }

const create = async ({ transport }: Connection, name: string, data: Record<string, string> = {}) => {
  const headers = { 'content-type': 'application/json', 'audit-id': `id-of-${name}` }
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })
  const response = await transport.send({ method: 'POST', path: maps, headers, body })
  await textOf(response)
  return response.status
}

/** An audit webhook; `lists` has the events of each call. */
async function anAuditWebhook(status: number) {
  const lists: WrittenEvent[][] = []
  const file = await aWebhookFile((list) => {
    lists.push((list as { readonly items: WrittenEvent[] }).items)
    return { status }
  })
  return { lists, flag: `--audit-webhook-config-file=${file}` }
}

async function startAudited(rules: readonly object[], flags: readonly string[], more: object = {}) {
  const policy = aFileFolder().write('policy.yaml', aPolicy(rules, more))
  const server = await startThreaded([`--audit-policy-file=${policy}`, ...flags])
  const lost = async (connection: Connection) => {
    const text = await textOf(await connection.transport.send({ method: 'GET', path: '/metrics', headers: {} }))
    return [...text.matchAll(/^apiserver_audit_error_total\{plugin="(\w+)"\} (\d+)/gm)].map(([, plugin, count]) => `${plugin} ${count}`)
  }
  return { server, lost, connections: [await server.connect('first'), await server.connect('other')] as const }
}

describe.skipIf(!canSharePorts)('audit with two threads', () => {
  test('writes events of all threads as whole lines of one log, also over a rotation', async () => {
    const folder = aFolder()
    const { server, connections } = await startAudited(
      [{ level: 'RequestResponse', ...ofTests }],
      [`--audit-log-path=${join(folder, 'audit.log')}`, '--audit-log-maxsize=1'],
    )
    const names = Array.from({ length: 40 }, (_, index) => `map-${index}`)
    const text = 'é'.repeat(20_000)
    const codes = await Promise.all(names.map((name, index) => create(connections[index % 2] as Connection, name, { text })))
    expect(new Set(codes)).toEqual(new Set([201]))
    await server.stop()
    const files = readdirSync(folder)
    expect(files.length).toBeGreaterThan(1)
    const events = files.flatMap((file) => readEvents(readFileSync(join(folder, file), 'utf8')))
    for (const name of names) {
      const own = events.filter(({ auditID }) => auditID === `id-of-${name}`)
      expect(own.map(({ stage }) => stage).sort()).toEqual(['RequestReceived', 'ResponseComplete'])
      const { requestObject, responseObject, objectRef } = own.find(({ stage }) => stage === 'ResponseComplete') ?? {}
      expect(objectRef).toMatchObject({ name })
      expect([requestObject?.['data'], responseObject?.['data']]).toEqual([{ text }, { text }])
    }
    expect(events).toHaveLength(2 * names.length)
  })

  test('sends events of all threads to the webhook in one list, with one bound for the buffer', async () => {
    const { lists, flag } = await anAuditWebhook(200)
    const batch = ['--audit-webhook-batch-buffer-size=5', '--audit-webhook-batch-max-wait=1h']
    const { server, lost, connections } = await startAudited([{ level: 'Metadata', ...ofTests }], [flag, ...batch], {
      omitStages: ['RequestReceived'],
    })
    for (let round = 0; round < 3; round += 1) {
      for (const [index, connection] of connections.entries()) expect(await create(connection, `map-${round}-${index}`)).toBe(201)
    }
    for (const connection of connections) await expect.poll(() => lost(connection)).toEqual(['webhook 1'])
    await server.stop()
    expect(lists.map((events) => events.length)).toEqual([5])
  })

  test.each([
    ['blocking', 201, 2],
    ['blocking-strict', 500, 1],
  ])(
    'answers %i in each thread after a failure of the backend with %s, and counts each lost event once',
    async (mode, code, perRequest) => {
      const { flag, lists } = await anAuditWebhook(500)
      const { lost, connections } = await startAudited([{ level: 'Metadata', ...ofTests }], [flag, `--audit-webhook-mode=${mode}`])
      for (const [index, connection] of connections.entries()) {
        expect(await create(connection, `map-${index}`)).toBe(code)
        // The server writes a request's last event after the answer.
        await expect.poll(() => lists.length).toBeGreaterThanOrEqual((index + 1) * perRequest)
      }
      await expect.poll(async () => (await lost(connections[1]))[0]).toMatch(/^webhook \d+$/)
      const lostEvents = async () => Number((await lost(connections[0]))[0]?.split(' ')[1])
      await expect.poll(async () => (await lostEvents()) === lists.length).toBe(true)
      expect(await lost(connections[0])).toHaveLength(1)
    },
  )
})
