import { namesOf } from '@orch/core/names'
import { silentLog } from '@orch/platform'
import { createFakeClock, createTinyStorage } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { ApiServices } from './api-services.ts'

const names = namesOf('orch')
const resource = 'apiregistration.orch.io/apiservices'
const managed = { 'orch-aggregator.orch.io/automanaged': 'true' }

async function following() {
  const storage = createTinyStorage()
  const put = (
    name: string,
    { labels = {}, service }: { readonly labels?: Readonly<Record<string, string>>; readonly service?: object | undefined } = {},
  ) => {
    const [version, ...group] = name.split('.')
    const spec = { group: group.join('.'), version, ...(service !== undefined && { service }) }
    storage.put({ resource, name, labels, object: { kind: 'APIService', apiVersion: 'apiregistration.orch.io/v1', spec } })
  }
  const apiServices = new ApiServices({ storage, names, clock: createFakeClock(), log: silentLog, random: () => 0 })
  onTestFinished(() => apiServices.close())
  const seen: string[] = []
  apiServices.onChange(({ name, isRemote }) => seen.push(`${name} ${isRemote ? 'remote' : 'local'}`))
  await apiServices.load()
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  return { storage, put, apiServices, seen, settled }
}

test('a change reports whether the APIService has, or had, a remote server', async () => {
  const { storage, put, seen, settled } = await following()
  const service = { namespace: 'a', name: 'b' }
  for (const given of [undefined, service, service, undefined, undefined]) {
    put('v1.example.com', { labels: managed, service: given })
    await settled()
  }
  storage.remove(resource, 'v1.example.com')
  await settled()
  expect(seen.map((one) => one.split(' ')[1])).toEqual(['local', 'remote', 'remote', 'remote', 'local', 'local'])
})

test('APIServices managed by hand are known after they are added, changed and removed', async () => {
  const { storage, put, apiServices, settled } = await following()
  const byHand = async () => {
    await settled()
    expect(apiServices.hasByHand).toBe(apiServices.byHand.length > 0)
    return apiServices.byHand.map(({ name }) => name)
  }
  put('v1.example.com', { labels: managed })
  expect(await byHand()).toEqual([])
  put('v2.example.com')
  put('v3.example.com', { labels: managed, service: { namespace: 'a', name: 'b' } })
  expect(await byHand()).toEqual(['v2.example.com', 'v3.example.com'])
  put('v2.example.com', { labels: managed })
  storage.remove(resource, 'v3.example.com')
  expect(await byHand()).toEqual([])
})
