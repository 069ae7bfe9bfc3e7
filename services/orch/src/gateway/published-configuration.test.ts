import { createClient, createHttpsTransport, parseConfiguration } from '@orch/client'
import { bootstrap } from '@orch/controllers'
import { namesOf } from '@orch/core/names'
import type { Authorities, AuthoritySource } from '@orch/gateway'
import { silentLog } from '@orch/platform'
import { expect, onTestFinished, test } from 'vitest'
import { start } from '../start/start.ts'
import { authenticationStart, followAuthorities } from './start-objects.ts'

test('AGG-25: authorities that change are published', async () => {
  const server = await start()
  onTestFinished(() => server.stop())
  const client = createClient(createHttpsTransport(await parseConfiguration(server.kubeconfig)))
  onTestFinished(() => client.close())
  const listeners: ((authorities: Authorities) => void)[] = []
  const source: { current: Authorities; listen: AuthoritySource['listen'] } = {
    current: { clients: 'first', proxies: 'front' },
    listen(listener) {
      listeners.push(listener)
      return () => void listeners.splice(listeners.indexOf(listener), 1)
    },
  }
  const proxy = {
    caFile: '',
    usernameHeaders: ['X-Remote-User'],
    uidHeaders: [],
    groupHeaders: [],
    extraHeaderPrefixes: [],
    allowedNames: ['front'],
  }
  const names = { ...namesOf('orch'), systemNamespace: 'default' }
  const catalogue = { names, isGateOn: () => true }
  const published = authenticationStart({ authentication: { proxy }, source, catalogue })
  await bootstrap(client, published)
  const unfollow = followAuthorities(source, published, client, silentLog)
  const configMaps = client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
  const read = async () => (await configMaps.get('extension-apiserver-authentication', { namespace: 'default' }))['data']
  const ofProxy = {
    'requestheader-allowed-names': '["front"]',
    'requestheader-extra-headers-prefix': '[]',
    'requestheader-group-headers': '[]',
    'requestheader-username-headers': '["X-Remote-User"]',
  }
  expect(await read()).toEqual({ ...ofProxy, 'client-ca-file': 'first', 'requestheader-client-ca-file': 'front' })
  source.current = { clients: 'second', proxies: 'other' }
  for (const listener of listeners) listener(source.current)
  for (let data = await read(); ; data = await read()) {
    if (JSON.stringify(data).includes('second')) {
      expect(data).toEqual({ ...ofProxy, 'client-ca-file': 'second', 'requestheader-client-ca-file': 'other' })
      break
    }
  }
  unfollow()
  expect(listeners).toEqual([])
})
