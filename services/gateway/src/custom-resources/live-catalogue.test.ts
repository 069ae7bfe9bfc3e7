import { createCatalogue } from '@orch/core/catalogue'
import { expect, test } from 'vitest'
import { LiveCatalogue } from './live-catalogue.ts'

test('listeners receive the changed groups, together with the present catalogue', () => {
  const builtIn = createCatalogue('orch')
  const live = new LiveCatalogue(builtIn)
  const [pods] = builtIn.inGroupVersion('', 'v1')
  if (pods === undefined) throw new Error('the core group serves nothing')
  const seen: [readonly string[], number][] = []
  const end = live.onChange((catalogue, changed, revision) => {
    expect(catalogue).toBe(live.current())
    seen.push([changed, revision])
  })
  const serving = (name: string) => ({ name, versions: ['v1'], resources: [{ ...pods, group: name, version: 'v1' }] })
  live.setGroups([serving('a.example.com'), serving('b.example.com')], 5)
  live.setGroups([{ name: 'a.example.com', versions: [], resources: [] }], 7)
  end()
  live.setGroups([serving('c.example.com')], 8)
  expect(seen).toEqual([
    [['a.example.com', 'b.example.com'], 5],
    [['a.example.com'], 7],
  ])
  expect([live.current().group('a.example.com'), live.current().group('c.example.com')?.versions]).toEqual([undefined, ['v1']])
})

test('a built-in group has custom resources in none of its versions', () => {
  const builtIn = createCatalogue('orch')
  const live = new LiveCatalogue(builtIn)
  const [deployments] = builtIn.inGroupVersion('apps', 'v1').filter(({ plural }) => plural === 'deployments')
  if (deployments === undefined) throw new Error('no Deployments are served')
  const custom = (version: string) => ({ ...deployments, plural: 'foos', version, apiVersion: `apps/${version}` })
  live.setGroups([{ name: 'apps', versions: ['v1', 'v9'], resources: [custom('v1'), custom('v9')] }], 5)
  expect(live.current().group('apps')).toEqual(builtIn.group('apps'))
  const customs = live.current().resources.filter(({ plural }) => plural === 'foos')
  expect(customs).toEqual([])
})
