import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@orch/core/contracts'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { backupFolder, openBackup, restoreFolder } from '../../services/storage/src/backup/index.ts'
import { openLmdbStore } from '../../services/storage/src/index.ts'

const child = new URL('./restore-child.ts', import.meta.url).pathname

let folder = ''
/** A folder whose present state came from an earlier restore and has one more object. */
const present = () => join(folder, 'present')
const backup = () => join(folder, 'backup')
/** The revision of the present state; a client may hold it. */
let presentRevision = 0

const openStore = (directory: string) => openLmdbStore({ directory, profile: 'orch' })

async function put(store: Store, key: string): Promise<number> {
  const outcome = await store.commit({ key, value: Buffer.from(key), expected: 0, conditions: [], writeId: 'w' })
  return outcome.kind === 'written' ? outcome.revision : expect.fail(outcome.kind)
}

/** The keys and the revision of a folder's state, or the refusal of the server. */
async function stateOf(directory: string): Promise<{ keys: string[]; revision: number } | 'refused'> {
  let store: Store
  try {
    store = await openStore(directory)
  } catch (error) {
    expect(String(error)).toContain('it is missing, as a restore was interrupted; the same restore with --replace completes it')
    return 'refused'
  }
  const { revision } = store.status()
  const { records } = await store.range({ prefix: '', start: '', limit: 0, revision })
  await store.close()
  return { keys: records.map(({ key }) => key), revision }
}

/** Restores a copy of the present state; the test kills the process at the moment. */
function killedAt(moment: string, directory: string): void {
  const words = ['--conditions=source', '--no-warnings', child, directory, backup(), moment]
  expect(() => execFileSync(process.execPath, words, { stdio: 'pipe' })).toThrow(expect.objectContaining({ signal: 'SIGKILL' }))
}

function copyOfPresent(): string {
  const directory = mkdtempSync(join(folder, 'copy-'))
  cpSync(present(), directory, { recursive: true })
  return directory
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'restore-kill-'))
  const store = await openStore(present())
  await put(store, 'a/x')
  await put(store, 'a/y')
  await backupFolder(present(), backup(), true)
  await put(store, 'a/later')
  await store.close()
  await restoreFolder(present(), openBackup(backup()))
  const restored = await openStore(present())
  presentRevision = await put(restored, 'a/after')
  await restored.close()
  return () => rmSync(folder, { recursive: true, force: true })
})

test.for([
  ['fill', 'before'],
  ['rename-1', 'before'],
  ['rename-2', 'refused'],
  ['rename-3', 'restored'],
  ['rename-4', 'restored'],
  ['done', 'restored'],
] as const)('a restore that is killed at %s leaves the state %s, and a second restore completes it', async ([moment, expected]) => {
  const directory = copyOfPresent()
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  killedAt(moment, directory)
  const left = await stateOf(directory)
  if (expected === 'refused') expect(left).toBe('refused')
  else if (expected === 'before') expect(left).toEqual({ keys: ['a/after', 'a/x', 'a/y'], revision: presentRevision })
  else expect(left).toEqual({ keys: ['a/x', 'a/y'], revision: expect.toSatisfy((revision) => revision > presentRevision) })
  await restoreFolder(directory, openBackup(backup()))
  // The store never reuses a revision that a client of the present state holds.
  const revision = expect.toSatisfy((one) => one > presentRevision)
  expect(await stateOf(directory)).toEqual({ keys: ['a/x', 'a/y'], revision })
})

test('a restore that is killed twice never reuses an earlier revision', async () => {
  const directory = copyOfPresent()
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  killedAt('rename-2', directory)
  killedAt('fill', directory)
  expect(await stateOf(directory)).toBe('refused')
  await restoreFolder(directory, openBackup(backup()))
  expect(await stateOf(directory)).toEqual({ keys: ['a/x', 'a/y'], revision: expect.toSatisfy((one) => one > presentRevision) })
})
