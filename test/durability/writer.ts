/**
 * A process that writes to a data directory and prints its acknowledgements, for tests that kill it.
 *
 *   node writer.ts <directory> <first number> <writes, 0: until killed> <in flight> [unsafe-no-sync]
 *
 * Lines: `ask <number>` before a commit is asked for; `ack <number> <revision> <key> <put|delete>` after it was written;
 * `refused <number> <reason>`; and on a locked directory, or when a write fails, its error on the error output and exit code 1.
 */
import { writeSync } from 'node:fs'
import type { Store } from '@orch/core/contracts'
import { encodeObject, encodeStored } from '@orch/core/stored'
import { lockDirectory, openLmdbStore } from '../../services/storage/src/index.ts'
import { endAtOnce } from '../../shared/platform/src/end-at-once.ts'

const [directory = '', firstText = '0', writesText = '0', inFlightText = '1', mode = ''] = process.argv.slice(2)
const keys = 40
/** After a refusal the lane waits this time before its next write, like a client. */
const pauseMs = 20
const say = (line: string) => writeSync(1, `${line}\n`)

function aValue(number: number, writeId: string): Uint8Array {
  const encoded = encodeObject({ metadata: { name: `key-${number}` }, data: `mark-${number}-${'x'.repeat((number * 31) % 900)}` })
  return encodeStored({ fingerprint: 1, writeId, expiresAtMs: 0, encoded, labels: {}, fields: {} })
}

/** The revisions of one lane's keys; no other lane writes them. */
type Revisions = Map<string, number>

async function writeOne(store: Store, number: number, lane: number, revisions: Revisions): Promise<void> {
  const key = `lanes/${lane}/key-${(number * 7919) % keys}`
  const expected = revisions.get(key) ?? 0
  const isDelete = expected !== 0 && number % 5 === 0
  const writeId = `write-${number}`
  say(`ask ${number}`)
  try {
    const outcome = await store.commit({ key, expected, conditions: [], value: isDelete ? undefined : aValue(number, writeId), writeId })
    if (outcome.kind !== 'written') throw new Error(`the commit ${number} is ${outcome.kind}`)
    revisions.set(key, isDelete ? 0 : outcome.revision)
    say(`ack ${number} ${outcome.revision} ${key} ${isDelete ? 'delete' : 'put'}`)
  } catch (error) {
    say(`refused ${number} ${(error as Error).message}`)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

async function main(): Promise<void> {
  const lock = lockDirectory(directory)
  const onFailure = ({ message }: Error) => {
    writeSync(2, `${message}\n`)
    endAtOnce()
  }
  const store = await openLmdbStore({ directory, profile: 'orch', unsafeNoSync: mode === 'unsafe-no-sync', onFailure })
  const inFlight = Number(inFlightText)
  const end = writesText === '0' ? Number.POSITIVE_INFINITY : Number(firstText) + Number(writesText)
  const { records } = await store.range({ prefix: '', start: '', limit: 0, revision: store.status().revision })
  const revisions: Revisions = new Map(records.map(({ key, revision }) => [key, revision]))
  const lanes = Array.from({ length: inFlight }, async (_, lane) => {
    for (let number = Number(firstText) + lane; number < end; number += inFlight) await writeOne(store, number, lane, revisions)
  })
  await Promise.all(lanes)
  await store.close()
  lock.release()
}

main().catch((error: Error) => {
  writeSync(2, `${error.message}\n`)
  process.exitCode = 1
})
