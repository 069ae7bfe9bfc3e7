/**
 * Fills a disk with large objects while another program takes and returns the rest of the disk, then deletes and compacts. Prints a line of JSON after
 * each step: the number of written commits, and the first refusal.
 *
 *   node fill-disk.ts <folder on a small disk>
 */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '@orch/core/contracts'
import { openLmdbStore } from '../../services/storage/src/index.ts'

const [disk = ''] = process.argv.slice(2)
const directory = join(disk, 'data')
const largeBytes = 100_000
/** The number of tries on a full disk; creates of small and large objects alternate. */
const triesWhenFull = 20

/** Keys and revisions of the acknowledged objects that still exist. */
const acknowledged = new Map<string, number>()
const deleted: string[] = []
let number = 0
const say = (step: string, rest: Record<string, unknown>) => writeSync(1, `${JSON.stringify({ step, ...rest })}\n`)

async function create(store: Store, bytes: number): Promise<string | undefined> {
  const key = `objects/${number++}`
  try {
    const outcome = await store.commit({ key, expected: 0, conditions: [], writeId: key, value: new Uint8Array(bytes).fill(number) })
    if (outcome.kind !== 'written') throw new Error(`the create of ${key} is ${outcome.kind}`)
    acknowledged.set(key, outcome.revision)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Creates objects until the store refuses a create. */
async function fill(store: Store, bytes: number): Promise<{ written: number; refusal: string }> {
  for (let written = 0; ; written++) {
    const refusal = await create(store, bytes)
    if (refusal !== undefined) return { written, refusal }
  }
}

async function tryWhenFull(store: Store): Promise<{ written: number; refusal?: string | undefined }> {
  const refusals: (string | undefined)[] = []
  // The store may still write objects of a page or two; then it refuses them too.
  await fill(store, 1_000)
  for (let attempt = 0; attempt < triesWhenFull; attempt++) refusals.push(await create(store, attempt % 2 === 0 ? largeBytes : 1_000))
  return { written: refusals.filter((refusal) => refusal === undefined).length, refusal: refusals[0] }
}

async function deleteSome(store: Store, count: number): Promise<{ written: number }> {
  let written = 0
  for (const [key, expected] of [...acknowledged].slice(0, count)) {
    const outcome = await store.commit({ key, expected, conditions: [], writeId: `delete-${key}`, value: undefined })
    if (outcome.kind !== 'written') continue
    acknowledged.delete(key)
    deleted.push(key)
    written++
  }
  return { written }
}

const ballast = join(disk, 'ballast')
function takeTheRest(): void {
  const file = openSync(ballast, 'w')
  try {
    for (;;) writeSync(file, Buffer.alloc(4096, 1))
  } catch {
    // The disk is full.
  }
  closeSync(file)
}

async function main(): Promise<void> {
  const store = await openLmdbStore({ directory, profile: 'orch' })
  for (let count = 0; count < 20; count++) await create(store, largeBytes)
  takeTheRest()
  say('another program takes the rest', await fill(store, largeBytes))
  say('still full', await tryWhenFull(store))
  say('deleted', await deleteSome(store, 20))
  await store.compact(store.status().revision)
  const { written } = await fill(store, largeBytes)
  say('compacted', { written })
  rmSync(ballast)
  say('the other program ends', await fill(store, largeBytes))
  takeTheRest()
  say('the other program comes back', await tryWhenFull(store))
  say('deleted again', await deleteSome(store, 20))
  await store.close()
  const again = await openLmdbStore({ directory, profile: 'orch' })
  const { records } = await again.range({ prefix: '', start: '', limit: 0, revision: again.status().revision })
  const found = new Map(records.map(({ key, revision }) => [key, revision]))
  const lost = [...acknowledged].filter(([key, revision]) => found.get(key) !== revision)
  say('opened again', { lost, left: deleted.filter((key) => found.has(key)) })
  await again.close()
}

await main()
