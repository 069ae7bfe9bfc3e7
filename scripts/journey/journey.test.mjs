import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const [recorder, journey] = ['recorder.mjs', 'journey.mjs'].map((name) => new URL(name, import.meta.url))

/** The files that a warm request visits and how often it returns to one that it has left, general helpers left out. */
async function journeyOf(verb) {
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', recorder.href, journey.pathname, verb])
  const [, files, returns] = /^without general helpers: (\d+) files, (\d+) returns$/m.exec(stdout) ?? []
  return { files: Number(files), returns: Number(returns) }
}

// Nine of the files are those by which the event leaves for watchers, before the answer does.
test('a create passes at most 55 files, and returns at most 40 times to one that it has left', async () => {
  const { files, returns } = await journeyOf('create')
  expect(files).toBeGreaterThan(20)
  expect(files).toBeLessThanOrEqual(55)
  expect(returns).toBeLessThanOrEqual(40)
})
