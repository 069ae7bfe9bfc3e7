/**
 * Damages copies of a store's data file at random and opens each copy. A copy that opens is then used: reads of all objects, the changes, writes, a
 * compaction.
 *
 *   node damage-store.ts <folder> <seed> <copies>
 *
 * Prints the outcome of each copy: `refused`, `same` (the damaged part is not in use), `forgotten` (the past was damaged, and the rest
 * is whole), `ended` (damage that a server ends with), `mute` (its changes can't be read and nothing reports it), or `differs`,
 * with the damage.
 */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '@orch/core/contracts'
import { DamagedStoreError, openLmdbStore } from '../../services/storage/src/index.ts'
import { createRandom } from '../chaos/random.ts'
import { readChanges, readState, type State, writeSampleStore } from './sample-store.ts'

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

interface Sound {
  readonly state: State
  /** All changes as texts; each text begins with the key and the revision. */
  readonly changes: State
}

/** Opens a folder as a server would; reports the outcome. */
async function useStore(directory: string, sound: Sound): Promise<string> {
  const told: string[] = []
  const environment = { onDamage: () => void told.push('ended'), onPastForgotten: () => void told.push('forgotten') }
  let store: Store | undefined
  let isStarted = false
  try {
    store = await openLmdbStore({ directory, profile: 'orch', unsafeNoSync: true, ...environment })
    const state = await readState(store)
    isStarted = true
    return isOther(state, sound.state) ? 'differs' : await follow(store, sound, told)
  } catch (error) {
    if (!(error instanceof DamagedStoreError)) return `unexplained: ${(error as Error).message}`
    if (!isStarted) return 'refused'
    return told.includes('ended') ? 'ended' : 'mute'
  } finally {
    await store?.close()
  }
}

/** Reads the changes from the oldest remaining change until it has met all damage, then writes and compacts. */
async function follow(store: Store, sound: Sound, told: readonly string[]): Promise<string> {
  let changes = await readChanges(store, store.status().compacted)
  if (changes === 'forgotten') changes = await readChanges(store, store.status().compacted)
  if (changes === 'forgotten' || isOther(changes, sound.changes.slice(sound.changes.length - changes.length))) return 'differs'
  for (let number = 0; number < 20; number++) {
    const written = await store.commit({ key: `new/${number}`, expected: 0, conditions: [], value: new Uint8Array(3_000), writeId: 'n' })
    if (written.kind !== 'written') return 'differs'
  }
  await store.compact(store.status().revision)
  if (
    isOther(
      (await readState(store)).filter((text) => !text.startsWith('new/')),
      sound.state,
    )
  )
    return 'differs'
  return told.includes('forgotten') ? 'forgotten' : changes.length === sound.changes.length ? 'same' : 'differs'
}

function isOther(found: State, expected: State): boolean {
  return found.length !== expected.length || found.some((text, index) => text !== expected[index])
}

async function main(): Promise<void> {
  const directory = join(folder, 'sound')
  const state = await writeSampleStore(directory)
  const file = readFileSync(join(directory, 'state.mdb'))
  const store = await openLmdbStore({ directory, profile: 'orch', unsafeNoSync: true })
  const changes = await readChanges(store, store.status().compacted)
  await store.close()
  if (changes === 'forgotten') throw new Error('a sound store has forgotten its changes')
  // The zeros at the end of the file are unused.
  const used = Math.ceil((file.findLastIndex((byte) => byte !== 0) + 1) / pageSize) * pageSize
  const names = Object.keys(damages)
  for (let number = 0; number < Number(copies); number++) {
    const name = names[number % names.length]!
    const copy = join(folder, `copy-${number}`)
    mkdirSync(copy)
    writeFileSync(join(copy, 'initialized'), '')
    writeFileSync(join(copy, 'state.mdb'), damages[name]!(Buffer.from(file.subarray(0, used))))
    writeSync(1, `${await useStore(copy, { state, changes })}: ${name}, ${statSync(join(copy, 'state.mdb')).size} bytes\n`)
    rmSync(copy, { recursive: true })
  }
}

await main()
