import { silentLog } from '@orch/platform'
import { expect, test } from 'vitest'
import { aHookedNamespace } from '../admission/hooks.ts'
import { allowing, aWebhookServer, patching } from '../admission/webhook-server.ts'
import { anApi, configMap, created } from '../api/api.ts'
import { aConvertedKind, widget } from '../api/conversion-hook.ts'

interface Line {
  readonly level: string
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** A server whose log the test keeps, from level info on. */
async function aLoggingApi(profile: 'orch' | 'kubernetes' = 'orch') {
  const lines: Line[] = []
  const at = (level: string) => (fields: object, message: string) => void lines.push({ level, message, fields: { ...fields } })
  const log = { ...silentLog, info: at('info'), warn: at('warn'), error: at('error'), child: () => log }
  const api = await anApi({ flags: ['--controllers=-*', '--kubelet-local-addresses'], profile, log })
  lines.length = 0
  return { api, lines }
}

test('a refused request that needs a node logs one line at level info, without a stack', async () => {
  const { api, lines } = await aLoggingApi()
  await created(api, '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } })
  const pods = '/api/v1/namespaces/default/pods'
  const spec = { nodeName: 'n', containers: [{ name: 'a', image: 'b' }] }
  await created(api, pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec })
  await api.patch(`${pods}/p/status`, { status: { podIP: '127.0.0.1' } })
  const services = '/api/v1/namespaces/default/services'
  await created(api, services, { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } })
  const paths = [`${pods}/p/log`, `${pods}/p:1/proxy/x`, '/api/v1/nodes/n/proxy/x', `${services}/s/proxy/x`]
  for (const path of paths) expect((await api.get(path)).status).toBeGreaterThanOrEqual(500)
  for (const path of [`${pods}/p/exec?command=x`, `${pods}/p/portforward`]) expect((await api.post(path, undefined)).status).toBe(500)
  expect(lines.map(({ level, message }) => `${level} ${message}`)).toEqual(
    Array.from({ length: 6 }, () => 'info a request needs what this server does not reach'),
  )
  expect(lines[0]?.fields).toMatchObject({ path: `${pods}/p/log`, problem: 'no preferred addresses found; known addresses: []' })
  expect(lines.filter(({ fields }) => 'err' in fields)).toEqual([])
})

test.each(['mutating', 'validating'] as const)(
  'a failing %s webhook logs one line a minute, for any number of failed requests',
  async (phase) => {
    const { api, lines } = await aLoggingApi()
    const hook = await aWebhookServer(allowing)
    hook.stop()
    const { path, hook: name } = await aHookedNamespace(api, phase, hook)
    lines.length = 0
    for (let count = 0; count < 5; count += 1) expect((await api.post(path, configMap({ name: 'a' }))).status).toBe(500)
    expect(lines).toEqual([
      { level: 'warn', message: 'a webhook failed', fields: expect.objectContaining({ webhook: name, isIgnored: false }) },
    ])
  },
)

test('a webhook with an invalid patch logs one line a minute', async () => {
  const { api, lines } = await aLoggingApi()
  const hook = await aWebhookServer(patching(() => [{ op: 'remove', path: '/data/none' }]))
  const { path } = await aHookedNamespace(api, 'mutating', hook)
  lines.length = 0
  for (let count = 0; count < 3; count += 1) expect((await api.post(path, configMap({ name: 'a' }))).status).toBe(500)
  expect(lines.map(({ level, message }) => `${level} ${message}`)).toEqual(['warn a webhook failed'])
})

test('a failing conversion webhook logs one line a minute', async () => {
  const { api, lines } = await aLoggingApi('kubernetes')
  const kind = await aConvertedKind(api)
  await created(api, kind.at('v1'), widget(kind, 'v1', 'a', { size: 1 }))
  kind.hook.stop()
  lines.length = 0
  for (let count = 0; count < 3; count += 1) expect((await api.get(`${kind.at('v2')}/a`)).status).toBe(500)
  expect(lines.map(({ level, message }) => `${level} ${message}`)).toEqual(['info a request needs what this server does not reach'])
})
