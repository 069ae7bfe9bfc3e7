import { parseConfiguration } from '@orch/client'
import { start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { compare, printCompared } from './against.ts'
import { listMeasures, type Measure, objectMeasures } from './operations.ts'
import { watchMeasures } from './watches.ts'

async function aServer() {
  const server = await start({ profile: 'kubernetes' })
  onTestFinished(() => server.stop())
  return { client: server.client, configuration: await parseConfiguration(server.kubeconfig) }
}

const extent = { roundMs: 20, connectionsMax: 3, objects: 12, watchers: 3, steadyWatchers: 2, events: 3 }

test('all lines are measured on both servers, and the namespaces are deleted afterwards', async () => {
  const [own, other] = [await aServer(), await aServer()]
  const rows: string[] = []
  const options = {
    measures: [...objectMeasures, ...listMeasures, ...watchMeasures],
    rounds: 2,
    warm: 1,
    extent,
    print: (row: string) => void rows.push(row),
  }
  // The bench reads the CPU time of one side from the process, and of the other side from the metrics.
  const results = await compare({ ours: { ...own, pids: [process.pid] }, other }, options)
  expect(results.map(({ label }) => label)).toEqual([
    ...['create (64)', 'put (16)', 'merge patch (16)', 'apply (16)', 'create and delete (16)', 'get (64)'],
    ...['list', 'list, resourceVersion=0', 'list by pages of 500', 'list as Table', 'list of metadata', 'list in gzip'],
    ...['events in a burst', 'events one at a time'],
  ])
  for (const { ours, other: theirs } of results) {
    for (const { rates } of [ours, theirs]) {
      expect(rates).toHaveLength(2)
      expect(Math.min(...rates)).toBeGreaterThan(0)
    }
  }
  expect(rows).toHaveLength(results.length)
  const namespaces = { group: '', version: 'v1', plural: 'namespaces', namespaced: false }
  for (const server of [own, other]) {
    const { items } = await server.client.resource(namespaces).list()
    const left = items.filter(({ metadata }) => metadata.name?.startsWith('bench-') && metadata.deletionTimestamp == null)
    expect(left).toEqual([])
  }
})

test('a row has medians with their spread, and the ratio of our figure to the other', () => {
  const row = printCompared({
    label: 'get (64)',
    unit: 'requests',
    ours: { rates: [900, 1000, 1100], cpuMicros: [70] },
    other: { rates: [500], cpuMicros: [] },
  })
  expect(row).toBe('| get (64) | 1000 (900–1100) requests | 500 requests | 2.00 | 70.0 µs | – | – |\n')
})

test('a server that refuses a request fails the run, with its answer', async () => {
  const server = await aServer()
  const refused: Measure = {
    ...(objectMeasures[0] as Measure),
    open: (side, _namespace, all) => (objectMeasures[0] as Measure).open(side, 'not-there', all),
  }
  const options = { measures: [refused], rounds: 1, warm: 0, extent, print: () => undefined }
  await expect(compare({ ours: server, other: server }, options)).rejects.toThrow(
    /a Pod cannot be made: 404|namespaces "not-there" not found/,
  )
})
