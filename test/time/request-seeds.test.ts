import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { virtualClock } from '@orch/platform'
import { expect, test } from 'vitest'
import { start } from '../../services/orch/src/start/start.ts'
import { testRequestSeeds } from './request-seeds.ts'

testRequestSeeds(1, 25, 4)

const [startTime, seed] = ['2030-01-01T00:00:00Z', 7]
const drawn = { apiVersion: 'v1', kind: 'Service', metadata: { generateName: 's-', namespace: 'default' }, spec: { ports: [{ port: 80 }] } }

const program = `
import { start, virtualClock } from 'orch'
const clock = virtualClock({ start: new Date('${startTime}') })
const server = await start({ clock, seed: ${seed}, profile: 'kubernetes' })
await server.settled({ within: 60_000 })
await server.client.objects.create(${JSON.stringify(drawn)})
await server.settled({ within: 60_000 })
process.stdout.write(await server.dump())
await server.stop()
`

test('two servers with one seed and the same requests store the same in two processes', async () => {
  const ended = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { maxBuffer: 2 ** 26 })
  const clock = virtualClock({ start: new Date(startTime) })
  await using server = await start({ clock, seed, profile: 'kubernetes' })
  await server.settled({ within: 60_000 })
  await server.client.objects.create(drawn)
  await server.settled({ within: 60_000 })
  const [dump, { stdout }] = [await server.dump(), await ended]
  expect(dump).toContain('core/services/default/s-')
  expect(stdout).toBe(dump)
})

/** The stored state after a create of each user. Racing creates are sent together; others one after the other, as sockets may order them. */
async function dumpAfterCreates(users: readonly string[], isRacing: boolean): Promise<string> {
  const clock = virtualClock({ start: new Date(startTime) })
  await using server = await start({ clock, seed, profile: 'kubernetes', ...(isRacing ? { order: 'seeded' } : {}) })
  await server.settled({ within: 60_000 })
  const create = (user: string) =>
    server.user(user).client.objects.create({ ...drawn, metadata: { ...drawn.metadata, generateName: `${user}-` } })
  if (isRacing) await Promise.all(users.map(create))
  else for (const user of users) await create(user)
  await server.settled({ within: 60_000 })
  return await server.dump()
}

test.each([
  ['differ if the sockets of two clients decide which request is first', false],
  ['agree if order: seeded decides which of two racing requests is first', true],
])('two servers with one seed %s', async (_what, isRacing) => {
  const [one, other] = [await dumpAfterCreates(['a', 'b'], isRacing), await dumpAfterCreates(['b', 'a'], isRacing)]
  expect(one).toMatch(/core\/services\/default\/a-.*core\/services\/default\/b-/s)
  expect(other === one).toBe(isRacing)
})
