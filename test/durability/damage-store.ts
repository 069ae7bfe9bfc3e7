/**
 * Damages copies of a store's data file at random, opens each, and uses what opens: reads all, writes, compacts.
 *
 *   node damage-store.ts <folder> <seed> <copies>
 *
 * Says what became of each copy: `refused`, `same` (what was damaged is not in use), or `differs`, with the damage.
 */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DamagedStoreError, openLmdbStore } from '../../services/storage/src/index.ts'
import { createRandom } from '../chaos/random.ts'
import { readState, type State, writeSampleStore } from './sample-store.ts'

const [folder = '', seed = '', copies = ''] = process.argv.slice(2)
const random = createRandom(Number(seed))
const whole = (below: number) => Math.floor(random() * below)
const pageSize = 4096

const damages: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  'some bytes of one page': (bytes) => {
    const page = whole(bytes.length / pageSize) * pageSize
    for (let count = 1 + whole(8); count > 0; count--) bytes[page + whole(pageSize)] = whole(256)
    return bytes
  },
  'the head of one page': (bytes) => {
    const page = whole(bytes.length / pageSize) * pageSize
    bytes[page + whole(200)] = whole(256)
    return bytes
  },
  'one bit': (bytes) => {
    const at = whole(bytes.length)
    bytes[at] = bytes[at]! ^ (1 << whole(8))
    return bytes
  },
  'a page of zeros': (bytes) => {
    const page = whole(bytes.length / pageSize) * pageSize
    return bytes.fill(0, page, page + pageSize)
  },
  'a page of anything': (bytes) => {
    const page = whole(bytes.length / pageSize) * pageSize
    for (let at = page; at < page + pageSize; at++) bytes[at] = whole(256)
    return bytes
  },
  'a page in the place of another': (bytes) => {
    const from = whole(bytes.length / pageSize) * pageSize
    bytes.copy(bytes, whole(bytes.length / pageSize) * pageSize, from, from + pageSize)
    return bytes
  },
  'a shorter file': (bytes) => bytes.subarray(0, whole(bytes.length)),
}

async function useStore(directory: string, before: State): Promise<string> {
  let outcome = 'same'
  try {
    const store = await openLmdbStore({ directory, profile: 'orch', unsafeNoSync: true })
    try {
      const state = await readState(store)
      if (state.join('\n') !== before.join('\n')) outcome = 'differs'
      for (let number = 0; number < 20; number++) {
        const written = await store.commit({
          key: `new/${number}`,
          expected: 0,
          conditions: [],
          value: new Uint8Array(3_000),
          writeId: 'n',
        })
        if (written.kind !== 'written') outcome = 'differs'
      }
      await store.history(store.status().compacted, 10_000)
      await store.compact(store.status().revision)
    } finally {
      await store.close()
    }
  } catch (error) {
    if (!(error instanceof DamagedStoreError)) outcome = `unexplained: ${(error as Error).message}`
    else if (outcome === 'same') outcome = 'refused'
  }
  return outcome
}

async function main(): Promise<void> {
  const sound = join(folder, 'sound')
  const state = await writeSampleStore(sound)
  const file = readFileSync(join(sound, 'state.mdb'))
  // The zeros at the end are not in use.
  const used = Math.ceil((file.findLastIndex((byte) => byte !== 0) + 1) / pageSize) * pageSize
  const names = Object.keys(damages)
  for (let number = 0; number < Number(copies); number++) {
    const name = names[number % names.length]!
    const copy = join(folder, `copy-${number}`)
    mkdirSync(copy)
    writeFileSync(join(copy, 'initialized'), '')
    writeFileSync(join(copy, 'state.mdb'), damages[name]!(Buffer.from(file.subarray(0, used))))
    writeSync(1, `${await useStore(copy, state)}: ${name}, ${statSync(join(copy, 'state.mdb')).size} bytes\n`)
    rmSync(copy, { recursive: true })
  }
}

await main()
